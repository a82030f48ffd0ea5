extension Duration? {
  /// The earlier of two deadlines, either of which may not exist. Allocates nothing, because it is asked for per frame.
  public func earlier(_ other: Duration?) -> Duration? {
    guard let self, let other else { return self ?? other }
    return Swift.min(self, other)
  }
}
