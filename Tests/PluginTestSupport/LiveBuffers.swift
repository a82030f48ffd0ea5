import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

/// The memory of the buffers that a test's source has sent, as long as anyone keeps it: in a buffer, a copy, or a list.
final class LiveBuffers: Sendable {
  private let count = Monitor(0)
  private let sent = Monitor(0)

  /// How many buffers there have been.
  var sentCount: Int { sent.withLock { $0 } }

  init(from source: Element) throws {
    // What still waits in an appsrc that never ran is its own.
    gst_pad_add_probe(
      try source.pad("src"), GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, data in
        if let data, let buffer = gst_pad_probe_info_get_buffer(info) {
          Unmanaged<LiveBuffers>.fromOpaque(data).takeUnretainedValue().follow(buffer)
        }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(),
      { data in
        if let data { Unmanaged<LiveBuffers>.fromOpaque(data).release() }
      })
  }

  private func follow(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    sent.withLock { $0 += 1 }
    for index in 0..<gst_buffer_n_memory(buffer) {
      guard let memory = gst_buffer_peek_memory(buffer, index) else { continue }
      count.withLock { $0 += 1 }
      gst_mini_object_weak_ref(
        UnsafeMutableRawPointer(memory).assumingMemoryBound(to: GstMiniObject.self),
        { data, _ in
          guard let data else { return }
          Unmanaged<LiveBuffers>.fromOpaque(data).takeRetainedValue().count.withLock { $0 -= 1 }
        }, Unmanaged.passRetained(self).toOpaque())
    }
  }

  /// Once the pipeline has stopped; the thread of a connection may end a moment later.
  func expectNone(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(eventually { self.count.withLock { $0 } == 0 }, "leaked buffers", sourceLocation: sourceLocation)
  }
}
