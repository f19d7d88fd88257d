"""Operations of the API about rating."""
