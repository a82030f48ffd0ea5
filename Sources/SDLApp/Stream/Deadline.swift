extension Duration? {
  /// The earlier of two deadlines, each of which may be nil. Allocates nothing, because it is called for each frame.
  public func earlier(_ other: Duration?) -> Duration? {
    guard let self, let other else { return self ?? other }
    return Swift.min(self, other)
  }
}
