"""What tui-eval finds by the entry points of this distribution."""
