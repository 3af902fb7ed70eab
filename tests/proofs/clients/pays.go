// Pays with the client that openapi-generator makes, and reads the statement of the day.
// Reads its task as JSON from standard input, and writes what it read to standard output.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	pixgate "pixgate.invalid/partner/client"
)

type task struct {
	BaseURL   string `json:"base_url"`
	ID        string `json:"client_id"`
	Secret    string `json:"client_secret"`
	AccountID string `json:"account_id"`
	Day       string `json:"day"`
	Orders    []struct {
		Reference string  `json:"reference"`
		Value     float64 `json:"value"`
	} `json:"orders"`
}

type result struct {
	Paid            []float64 `json:"paid"`
	Values          []float64 `json:"values"`
	DocumentNumbers []int64   `json:"document_numbers"`
}

func main() {
	var asked task
	check(json.NewDecoder(os.Stdin).Decode(&asked))
	configuration := pixgate.NewConfiguration()
	configuration.Servers = pixgate.ServerConfigurations{{URL: asked.BaseURL}}
	client := pixgate.NewAPIClient(configuration)
	pair := pixgate.BasicAuth{UserName: asked.ID, Password: asked.Secret}
	ctx := context.WithValue(context.Background(), pixgate.ContextBasicAuth, pair)

	said := result{Values: []float64{}, DocumentNumbers: []int64{}}
	for _, order := range asked.Orders {
		destination := pixgate.NewPixDestinationRequest("52998224725", "email", "maria@example.com")
		request := pixgate.NewPixPayoutRequest(order.Reference, order.Value, asked.Day, *destination, "pix")
		body := pixgate.PixPayoutRequestAsPayoutRequest(request)
		payout, _, err := client.PayoutsAPI.BankingPayoutCreate(ctx, asked.AccountID).PayoutRequest(body).Execute()
		check(err)
		said.Paid = append(said.Paid, payout.PixPayout.Value)
	}
	statement, _, err := client.StatementAPI.BankingStatement(ctx, asked.AccountID).Init(asked.Day).Ends(asked.Day).Limit(100).Execute()
	check(err)
	for _, entry := range statement.Data {
		said.Values = append(said.Values, entry.Value)
		said.DocumentNumbers = append(said.DocumentNumbers, entry.DocumentNumber)
	}
	check(json.NewEncoder(os.Stdout).Encode(said))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
