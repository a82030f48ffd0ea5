import GStreamerKit
import Synchronization
@testable import SDLLink

/// An application that pauses its pipeline below 100 % BUFFERING, and plays on at 100 %, on a thread of its own.
final class BufferingFollower: @unchecked Sendable {
  private struct State {
    /// The percentages to follow, with the times of their messages; ``end`` ends.
    var waiting: [(percent: Int, time: Duration)] = []
    var delay = Duration.zero

    mutating func next() -> (percent: Int, time: Duration)? {
      waiting.isEmpty ? nil : waiting.removeFirst()
    }
  }

  private let pipeline: UnsafeMutablePointer<GstElement>
  private let state = Monitor(State())
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
    try thread.start { [state] in
      while let (percent, time) = state.wait(until: nil, for: { $0.next() }), percent != Self.end {
        gst_element_set_state(pipeline, percent < 100 ? GST_STATE_PAUSED : GST_STATE_PLAYING)
        if percent < 100 { state.withLock { $0.delay += MonotonicClock.now - time } }
      }
    }
  }

  /// How late the pauses were altogether, after the messages that asked for them.
  var delay: Duration { state.withLock { $0.delay } }

  private func add(_ percent: Int) {
    state.change { $0.waiting.append((percent, MonotonicClock.now)) }
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
