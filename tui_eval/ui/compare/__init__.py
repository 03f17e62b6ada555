"""Parts of the Compare screen: what is compared, its rows, the cases that flipped, their texts."""
