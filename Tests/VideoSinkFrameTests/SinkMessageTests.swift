import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What the application is told of frames and rates.
@Suite struct SinkMessageTests {
  private let bench: FrameBench

  init() throws {
    bench = try FrameBench()
  }

  /// Runs `body` with a bus that gets the sink's messages.
  private func withBus(_ body: (UnsafeMutablePointer<GstBus>) throws -> Void) throws {
    let bus = try nonNull(gst_bus_new())
    gst_element_set_bus(bench.sink.gstElement, bus)
    defer {
      gst_element_set_bus(bench.sink.gstElement, nil)
      gst_object_unref(bus)
    }
    try body(bus)
  }

  /// What a QOS message says of a frame: whether it is live, its running time, stream time, time stamp and duration.
  private func quality(_ bus: UnsafeMutablePointer<GstBus>, isLive: Bool) throws -> [UInt64] {
    let buffer = try nonNull(gst_buffer_new())
    defer { gst_buffer_unref(buffer) }
    (buffer.pointee.pts, buffer.pointee.duration) = (1010, 20)
    bench.sink.postQoS(FrameTime(of: buffer), isLive: isLive)
    let message = try nonNull(gst_bus_pop(bus))
    defer { gst_message_unref(message) }
    var live: gboolean = 0
    var (running, stream, time, duration): (guint64, guint64, guint64, guint64) = (0, 0, 0, 0)
    gst_message_parse_qos(message, &live, &running, &stream, &time, &duration)
    return [UInt64(live), UInt64(running), UInt64(stream), UInt64(time), UInt64(duration)]
  }

  @Test func timesOfALostFrame() throws {
    try withBus { bus in
      let baseSink = bench.sink.baseSink
      (baseSink.pointee.segment.start, baseSink.pointee.segment.time, baseSink.pointee.segment.base) = (1000, 500, 70)
      let times = [try quality(bus, isLive: true), try quality(bus, isLive: false)]
      #expect(times == [[1, 80, 510, 1010, 20], [0, 80, 510, 1010, 20]])
      gst_segment_init(&baseSink.pointee.segment, GST_FORMAT_BYTES)
      let unknown = try quality(bus, isLive: false)
      #expect(unknown == [0, .max, .max, 1010, 20])
    }
  }

  /// A bitrate that is bound to an encoder's, and messages about the link.
  @Test func rates() throws {
    let notifications = Monitor(0)
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
      guard let data else { return }
      Unmanaged<Monitor<Int>>.fromOpaque(data).takeUnretainedValue().withLock { $0 += 1 }
    }
    g_signal_connect_data(
      bench.sink.gstElement, "notify::target-bitrate", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passRetained(notifications).toOpaque(),
      { data, _ in if let data { Unmanaged<Monitor<Int>>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
    try withBus { bus in
      /// The number of notifications so far, and the fields of the message, if there is one.
      func announce(_ report: LinkReport, after former: LinkReport?) -> (Int, [String: String]?) {
        bench.sink.announce(report, after: former)
        let message = gst_bus_pop(bus)
        defer { if let message { gst_message_unref(message) } }
        return (notifications.withLock { $0 }, message.map { BusMessage($0).fields })
      }
      let first = LinkReport(bitrate: 600, frameRate: 30, reason: .ceiling)
      let probing = LinkReport(bitrate: 600, frameRate: 15, reason: .probing, capacity: 700, delay: .milliseconds(5))
      let fixed = LinkReport(bitrate: 500, frameRate: 30)
      var (count, fields) = announce(first, after: nil)
      #expect(count == 1 && fields == nil)
      (count, fields) = announce(probing, after: first)
      #expect(count == 1)
      #expect(fields?.removeValue(forKey: "frame-rate").flatMap { Double($0) } == 15)
      #expect(fields == ["bitrate": "600", "reason": "probing", "capacity": "700", "delay": "5000000"])
      // The bitrate does not follow the link.
      (count, fields) = announce(fixed, after: probing)
      #expect(count == 2 && fields == nil)
    }
  }
}
