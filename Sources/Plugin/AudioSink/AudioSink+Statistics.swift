import GStreamerKit
import SDLApp
import SDLLink

/// What is counted: the property `sdl-stats`.
extension AudioSink {
  /// The property `sdl-stats`; valid in every state.
  func statistics() -> Structure {
    let (counters, link, now) = countersAndLink
    let structure = Structure("application/x-sdl-stats")
    structure.set("samples-in", counters.samplesIn)
    structure.set("samples-sent", counters.samplesSent)
    structure.set("samples-queued", counters.samplesQueued)
    for reason in SampleDropReason.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set("silence-samples-sent", counters.silenceSent)
    structure.set("queue-bytes", UInt64(clamping: link?.audio.queuedByteCount ?? 0))
    structure.set("queue-dwell-last-ns", UInt64(clamping: (link?.audio.lastDwellTime ?? .zero).nanoseconds))
    structure.set("queue-dwell-maximum-ns", UInt64(clamping: (link?.audio.longestDwellTime ?? .zero).nanoseconds))
    structure.set("bytes-sent", counters.app.formerBytesSent &+ (link?.sentByteCount ?? 0))
    structure.set("audio-bytes-sent", counters.audioBytesSent)
    counters.app.fill(structure)
    counters.stream.fill(structure, now: now)
    structure.set("last-error", counters.app.lastError ?? "")
    return structure
  }

  /// Counters, connection and time of one moment.
  private var countersAndLink: (counters: AudioSinkCounters, link: LinkStatistics?, now: Duration) {
    runs.readWithConnection { link in
      let (counters, now) = counters.withLock { ($0, time.now) }
      return (counters, link, now)
    }
  }
}
