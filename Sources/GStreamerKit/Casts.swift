extension UnsafeMutablePointer {
  /// The same instance as one of its GObject parent or child types.
  @inline(__always)
  public func cast<T>(to type: T.Type = T.self) -> UnsafeMutablePointer<T> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
  }
}
