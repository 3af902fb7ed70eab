"""What several tests of users share."""

ANA = ("--email", "Ana@Example.com", "--name", "Ana")
