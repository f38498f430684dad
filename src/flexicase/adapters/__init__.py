"""Selection in the call shapes of other systems; none of them is imported here."""
