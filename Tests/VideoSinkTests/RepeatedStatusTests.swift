import GStreamerKit
import SDLApp
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// An HMI status that is told again, as SDL Core does when a call takes the sound.
@Suite struct RepeatedStatusTests {
  @Test func levelIsNotifiedWhenItChanges() throws {
    let harness = try SinkHarness(.small(activation: nil))
    let counter = NotificationCounter(try harness.pipeline.sink.pointer, "hmi-level")
    try harness.prepare()
    #expect(counter.count == 0)
    let statuses: [(HMILevel, AudioStreamingState)] = [
      (.full, .audible), (.full, .notAudible), (.full, .audible), (.limited, .audible),
    ]
    for (level, audio) in statuses {
      try harness.show(HMIStatus(level: level, audioStreamingState: audio, videoStreamingState: .streamable))
    }
    try harness.settle()
    let levels = harness.pipeline.drain().filter { $0.isElement("sdl-hmi-status") }.map { $0.fields["level"] }
    #expect(levels == ["none", "full", "full", "full", "limited"])
    #expect(counter.count == 2)
    harness.pipeline.stop()
    #expect(counter.count == 3)
  }
}

/// Counts the notifications of a property.
private final class NotificationCounter {
  private let number = Monitor(0)

  init(_ element: UnsafeMutablePointer<GstElement>, _ property: String) {
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
      guard let data else { return }
      Unmanaged<Monitor<Int>>.fromOpaque(data).takeUnretainedValue().withLock { $0 += 1 }
    }
    let release: GClosureNotify = { data, _ in
      if let data { Unmanaged<Monitor<Int>>.fromOpaque(data).release() }
    }
    g_signal_connect_data(
      element, "notify::\(property)", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(number).toOpaque(), release, GConnectFlags(rawValue: 0))
  }

  var count: Int { number.withLock { $0 } }
}
