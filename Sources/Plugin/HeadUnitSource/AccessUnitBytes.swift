import GStreamerKit

/// Keeps the bytes of an access unit where they are, while a buffer refers to them.
final class AccessUnitBytes: Sendable {
  private let bytes: [UInt8]
  /// The elements of an array are in one block of memory that nobody moves or changes while the array is held here.
  private nonisolated(unsafe) let start: UnsafeRawPointer?

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = bytes.withUnsafeBytes { $0.baseAddress }
  }

  /// A buffer that refers to `bytes`, without a copy; nil when GStreamer has no memory for it.
  static func makeBuffer(_ bytes: [UInt8]) -> Buffer? {
    let holder = AccessUnitBytes(bytes)
    let owner = Unmanaged.passRetained(holder)
    let buffer = gst_buffer_new_wrapped_full(
      GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: holder.start), gsize(bytes.count), 0,
      gsize(bytes.count), owner.toOpaque(), releaseAccessUnit)
    if buffer == nil { owner.release() }
    return Buffer(owning: buffer)
  }
}

private func releaseAccessUnit(_ owner: UnsafeMutableRawPointer?) {
  guard let owner else { return }
  Unmanaged<AccessUnitBytes>.fromOpaque(owner).release()
}
