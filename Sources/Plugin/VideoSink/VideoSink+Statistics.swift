import GStreamerKit
import SDLApp
import SDLLink

/// What is counted: the property `sdl-stats`.
extension VideoSink {
  /// The property `sdl-stats`; valid in every state.
  func statistics() -> Structure {
    let late = countLateFrames()
    let (counters, link, now) = countersAndLink
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", counters.framesIn + late)
    structure.set("frames-sent", counters.framesSent)
    structure.set("frames-unchanged", counters.framesUnchanged)
    structure.set("frames-queued", counters.framesQueued)
    for reason in FrameDropReason.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set("frames-dropped-late", late)
    structure.set("frames-repeated", counters.framesRepeated)
    structure.set("notice-frames-sent", counters.noticeFramesSent)
    structure.set("frames-encoded", counters.framesEncoded)
    structure.set("key-frames-sent", counters.keyFramesSent)
    structure.set("key-frames-forced", counters.keyFramesForced)
    structure.set("nal-units-left-out", counters.nalUnitsLeftOut)
    structure.set(
      "encode-time-average-ns",
      counters.framesEncoded == 0 ? 0 : counters.encodeTimeTotal / counters.framesEncoded)
    structure.set("encode-time-maximum-ns", counters.encodeTimeMaximum)
    structure.set("queue-frames", UInt64(clamping: link?.queuedFrames ?? 0))
    structure.set("queue-bytes", UInt64(clamping: link?.queuedByteCount ?? 0))
    structure.set("queue-dwell-last-ns", nanoseconds(link?.lastVideoDwellTime))
    structure.set("queue-dwell-maximum-ns", nanoseconds(link?.longestVideoDwellTime))
    structure.set("bitrate-target-kbps", counters.bitrateTarget)
    structure.set("framerate-target", counters.frameRateTarget)
    structure.set("bitrate-measured-kbps", counters.bitrate.value(at: now))
    structure.set("bitrate-reason", counters.link?.reason?.name ?? "")
    structure.set("link-capacity-kbps", UInt64(clamping: counters.link?.capacity ?? 0))
    structure.set("link-delay-ns", nanoseconds(counters.link?.delay))
    structure.set("bytes-sent", counters.app.formerBytesSent &+ (link?.sentByteCount ?? 0))
    structure.set("video-bytes-sent", counters.videoBytesSent)
    counters.app.fill(structure)
    counters.stream.fill(structure, now: now)
    structure.set("resizes", counters.resizes)
    structure.set("touches", counters.touches)
    structure.set("navigation-events", counters.navigationEvents)
    structure.set("last-error", counters.app.lastError ?? "")
    structure.set("session-frames-in", counters.session.framesIn)
    structure.set("session-frames-sent", counters.session.framesSent)
    structure.set("session-frames-unchanged", counters.session.framesUnchanged)
    structure.set("session-frames-dropped", counters.session.framesDropped)
    structure.set("session-video-bytes-sent", counters.session.videoBytesSent)
    return structure
  }

  private func nanoseconds(_ time: Duration?) -> UInt64 {
    UInt64(clamping: (time ?? .zero).nanoseconds)
  }

  /// Frames that the base class has dropped, because they came too late. It forgets them when a state changes, so this
  /// is called before.
  @discardableResult
  func countLateFrames() -> UInt64 {
    guard let statistics = gst_base_sink_get_stats(baseSink) else { return 0 }
    defer { gst_structure_free(statistics) }
    var count: guint64 = 0
    gst_structure_get_uint64(statistics, "dropped", &count)
    return counters.withLock { counters in
      counters.lateFrames.observe(UInt64(count))
      return counters.lateFrames.total
    }
  }
}
