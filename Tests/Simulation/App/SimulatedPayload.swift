import SDLAppLink
import SDLLink

/// A message of video or sound on its way.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedPayload: MediaPayload, @unchecked Sendable {
  private let blocks: [UnsafeMutableRawBufferPointer]
  private(set) var isReleased = false
  private let didRelease: (Bool) -> Void

  /// - Parameter cut: where a second memory block begins.
  init(_ bytes: [UInt8], cut: Int, didRelease: @escaping (Bool) -> Void) {
    self.didRelease = didRelease
    let cut = min(max(cut, 0), bytes.count)
    blocks = [bytes[..<cut], bytes[cut...]].filter { !$0.isEmpty }.map { part in
      let block = UnsafeMutableRawBufferPointer.allocate(byteCount: part.count, alignment: 1)
      block.copyBytes(from: part)
      return block
    }
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  var segmentCount: Int { blocks.count }
  func segment(at index: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(blocks[index]) }
  var byteCount: Int { blocks.reduce(0) { $0 + $1.count } }

  func release(wasSent: Bool) {
    precondition(!isReleased, "released twice")
    isReleased = true
    // Whoever reads it from now on gets garbage.
    for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 0) }
    didRelease(wasSent)
  }
}
