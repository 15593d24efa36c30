"""What a fix has to prove to be safe, and the builders of fixes that rules offer."""
