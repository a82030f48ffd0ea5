import GStreamerKit
import Synchronization
@testable import SDLLink

/// An application that pauses its pipeline below 100 % BUFFERING, and plays on at 100 %, on a thread of its own.
final class BufferingFollower: @unchecked Sendable {
  private let pipeline: UnsafeMutablePointer<GstElement>
  /// The percentages to follow; ``end`` ends.
  private let percentages = Monitor<[Int]>([])
  private static let end = -1
  private let thread = WorkerThread(name: "player")

  init(_ pipeline: UnsafeMutablePointer<GstElement>) throws {
    self.pipeline = pipeline
    guard let bus = gst_element_get_bus(pipeline) else { throw TestFailure("no bus") }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(
      bus,
      { _, message, follower in
        if let message, let follower, let percent = BusMessage(message).buffering {
          Unmanaged<BufferingFollower>.fromOpaque(follower).takeUnretainedValue().add(percent)
        }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    nonisolated(unsafe) let pipeline = pipeline
    try thread.start { [percentages] in
      while let percent = percentages.wait(until: nil, for: { $0.isEmpty ? nil : $0.removeFirst() }),
        percent != Self.end
      {
        gst_element_set_state(pipeline, percent < 100 ? GST_STATE_PAUSED : GST_STATE_PLAYING)
      }
    }
  }

  private func add(_ percent: Int) {
    percentages.change { $0.append(percent) }
  }

  /// Before the pipeline is stopped.
  func end() {
    guard let bus = gst_element_get_bus(pipeline) else { return }
    gst_bus_set_sync_handler(bus, nil, nil, nil)
    gst_object_unref(bus)
    add(Self.end)
    thread.join()
  }
}
