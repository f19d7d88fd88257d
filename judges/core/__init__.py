"""Tables, access rules and errors that every feature of judges uses."""
