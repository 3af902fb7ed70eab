// Pays with the client that openapi-generator makes, and reads the statement of the day.
// Reads its task as JSON from standard input, and writes what it read to standard output.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.LocalDate;
import java.util.Base64;
import java.util.UUID;
import partner.ApiClient;
import partner.api.PayoutsApi;
import partner.api.StatementApi;
import partner.model.PayoutRequest;
import partner.model.PixDestinationRequest;
import partner.model.PixPayoutRequest;
import partner.model.StatementEntry;

class Pays {
  public static void main(String[] arguments) throws Exception {
    ObjectMapper json = new ObjectMapper();
    JsonNode asked = json.readTree(System.in);
    String pair = asked.get("client_id").asText() + ":" + asked.get("client_secret").asText();
    String basic = "Basic " + Base64.getEncoder().encodeToString(pair.getBytes());
    ApiClient client = new ApiClient();
    client.updateBaseUri(asked.get("base_url").asText());
    client.setRequestInterceptor(request -> request.header("Authorization", basic));
    UUID account = UUID.fromString(asked.get("account_id").asText());
    LocalDate day = LocalDate.parse(asked.get("day").asText());

    ObjectNode said = json.createObjectNode();
    var paid = said.putArray("paid");
    for (JsonNode order : asked.get("orders")) {
      var destination = new PixDestinationRequest()
          .taxNumber("52998224725").key("maria@example.com")
          .keyType(PixDestinationRequest.KeyTypeEnum.EMAIL);
      var request = new PixPayoutRequest()
          .method(PixPayoutRequest.MethodEnum.PIX).reference(order.get("reference").asText())
          .value(new java.math.BigDecimal(order.get("value").asText())).date(day)
          .destination(destination);
      var payout = new PayoutsApi(client)
          .bankingPayoutCreate(account, new PayoutRequest(request), null, null);
      paid.add(payout.getPixPayout().getValue());
    }
    var values = said.putArray("values");
    var numbers = said.putArray("document_numbers");
    var statement = new StatementApi(client)
        .bankingStatement(account, day, day, null, 100L, null, null);
    for (StatementEntry entry : statement.getData()) {
      values.add(entry.getValue());
      numbers.add(entry.getDocumentNumber());
    }
    System.out.println(json.writeValueAsString(said));
  }
}
