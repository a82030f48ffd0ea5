import GStreamerKit
import SDLLink

/// What is counted: the property `sdl-stats`, and QOS messages about frames that are lost.
extension VideoSink {
  /// The property `sdl-stats`; valid in every state.
  func statistics() -> Structure {
    let (link, counters, now, late) = snapshot()
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", counters.framesIn + late)
    structure.set("frames-sent", counters.framesSent)
    structure.set("frames-queued", counters.framesQueued)
    for reason in VideoSinkCounters.Drop.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set("frames-dropped-late", late)
    structure.set("frames-repeated", counters.framesRepeated)
    structure.set("notice-frames-sent", counters.noticeFramesSent)
    structure.set("frames-encoded", counters.framesEncoded)
    structure.set("key-frames-sent", counters.keyFramesSent)
    structure.set("key-frames-forced", counters.keyFramesForced)
    structure.set(
      "encode-time-average-ns",
      counters.framesEncoded == 0 ? 0 : counters.encodeTimeTotal / counters.framesEncoded)
    structure.set("encode-time-maximum-ns", counters.encodeTimeMaximum)
    structure.set("queue-frames", UInt64(clamping: link?.queuedFrames ?? 0))
    structure.set("queue-bytes", UInt64(clamping: link?.queuedByteCount ?? 0))
    structure.set("queue-dwell-last-ns", nanoseconds(link?.lastVideoDwellTime))
    structure.set("queue-dwell-maximum-ns", nanoseconds(link?.longestVideoDwellTime))
    structure.set("bitrate-target-kbps", counters.bitrateTarget)
    structure.set("bitrate-measured-kbps", counters.bitrate.value(at: now))
    structure.set("bytes-sent", counters.formerBytesSent + (link?.sentByteCount ?? 0))
    structure.set("video-bytes-sent", counters.videoBytesSent)
    structure.set("connect-attempts", counters.attempts)
    structure.set("connections", counters.connections)
    structure.set("connect-time-ns", nanoseconds(counters.connectTime))
    structure.set("round-trip-ns", nanoseconds(counters.roundTrip))
    structure.set("stream-starts", counters.streamStarts)
    structure.set("stream-start-failures", counters.startFailures)
    structure.set("resizes", counters.resizes)
    structure.set("suspensions", counters.suspensions)
    structure.set("suspended-time-ns", nanoseconds(counters.suspendedTime(at: now)))
    structure.set("last-error", counters.lastError ?? "")
    structure.set("session-frames-in", counters.session.framesIn)
    structure.set("session-frames-sent", counters.session.framesSent)
    structure.set("session-frames-dropped", counters.session.framesDropped)
    structure.set("session-video-bytes-sent", counters.session.videoBytesSent)
    return structure
  }

  private func snapshot() -> (LinkStatistics?, VideoSinkCounters, Duration, UInt64) {
    while true {
      let lateFramesEpoch = counters.withLock { $0.lateFramesEpoch }
      let late = lateFrames
      // Together, lest the bytes of a connection that ends be missed or counted twice, and a suspension that ends meanwhile
      // be told longer than it was.
      let (link, (counters, now)) = state.withLock { state in
        (state.connection?.statistics, self.counters.withLock { ($0, MonotonicClock.now) })
      }
      // Otherwise the base class has begun to count anew in between.
      if counters.lateFramesEpoch == lateFramesEpoch {
        return (link, counters, now, counters.formerLateFrames + (counters.areLateFramesKept ? 0 : late))
      }
    }
  }

  private func nanoseconds(_ time: Duration?) -> UInt64 {
    UInt64(clamping: (time ?? .zero).nanoseconds)
  }

  /// Frames that the base class has dropped since PLAYING because they came too late.
  private var lateFrames: UInt64 {
    guard let statistics = gst_base_sink_get_stats(baseSink) else { return 0 }
    defer { gst_structure_free(statistics) }
    var count: guint64 = 0
    gst_structure_get_uint64(statistics, "dropped", &count)
    return UInt64(count)
  }

  /// The base class is about to forget them, as it does in PLAYING→PAUSED.
  func keepLateFrames() {
    let late = lateFrames
    counters.withLock { $0.keepLateFrames(late) }
  }

  /// It has forgotten them.
  func countLateFramesAnew() {
    counters.withLock { $0.countLateFramesAnew() }
  }

  /// Tells the application that the frame at hand is lost (GStreamer's design document on QoS).
  func postQoS() {
    let time = input.frameTime
    let segment = baseSink.pointee.segment
    let runningTime = withUnsafePointer(to: segment) {
      gst_segment_to_running_time($0, GST_FORMAT_TIME, guint64(time.presentation))
    }
    let streamTime = withUnsafePointer(to: segment) {
      gst_segment_to_stream_time($0, GST_FORMAT_TIME, guint64(time.presentation))
    }
    let (processed, dropped) = counters.withLock { ($0.framesSent, $0.framesDropped) }
    let message = gst_message_new_qos(
      gstElement.cast(), input.isLive == true ? 1 : 0, runningTime, streamTime, guint64(time.presentation),
      guint64(time.duration))
    gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, guint64(processed), guint64(dropped))
    post(message)
  }
}
