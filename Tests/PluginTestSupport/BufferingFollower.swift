import GStreamerKit
import Synchronization
@testable import SDLLink

/// An application that pauses its pipeline below 100 % BUFFERING, and plays on at 100 %, on a thread of its own.
final class BufferingFollower: @unchecked Sendable {
  private let pipeline: UnsafeMutablePointer<GstElement>
  /// The percentages to follow; ``end`` ends.
  private let percentages = Monitor<[Int]>([])
  private let pauses = Pauses()
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
    try thread.start { [percentages, pauses] in
      while let percent = percentages.wait(until: nil, for: { $0.isEmpty ? nil : $0.removeFirst() }),
        percent != Self.end
      {
        gst_element_set_state(pipeline, percent < 100 ? GST_STATE_PAUSED : GST_STATE_PLAYING)
        if percent < 100 { pauses.paused() }
      }
    }
  }

  /// How long the pauses took altogether, from the message to the state.
  var pauseTime: Duration { pauses.time.withLock { $0 } }

  private func add(_ percent: Int) {
    if percent < 100, percent != Self.end { pauses.began.withLock { $0 = MonotonicClock.now } }
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

private final class Pauses: Sendable {
  let began = Mutex(Duration.zero)
  let time = Mutex(Duration.zero)

  func paused() {
    let took = MonotonicClock.now - began.withLock { $0 }
    time.withLock { $0 += took }
  }
}
