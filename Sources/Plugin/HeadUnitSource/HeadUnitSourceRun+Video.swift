import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// What apps do with their video.
extension HeadUnitSourceRun {
  func receiveStream(_ event: HeadUnitSession.Event, from id: UInt8, isReporting: Bool) {
    switch event {
    case .videoData(let bytes): receiveVideo(bytes, from: id)
    case .videoTimestamp(let timestamp): state.withLock { $0.video.setTimestamp(timestamp, from: id) }
    case .videoStarted(let parameters, _): startVideo(parameters, by: id)
    case .videoRefused(let rejection):
      let app = state.withLock { state in
        state.part.totals.streamRefusals &+= 1
        return state.part.apps[id]
      }
      reporter.streamRefused(rejection, of: app, .video)
    case .videoStopped(let reason): stopVideo(reason, of: id)
    // SDL Core has closed its output, and opens another with the next video.
    case .videoMissed, .videoDataStopped: noteGap(from: id)
    // What the app sends while it may not stream is left out.
    case .hmiStatusSent(let status): if !status.allowsVideo { noteGap(from: id) }
    case .touchSent: state.withLock { $0.sentTouches &+= 1 }
    default: break
    }
  }

  private func startVideo(_ parameters: VideoServiceParameters, by id: UInt8) {
    let (app, isLatencyNew) = state.withLock { state in
      let usedRTP = state.video.usesRTP
      state.part.totals.streamStarts &+= 1
      state.interruptTouches(now: MonotonicClock.now)
      state.video.begin(parameters, by: id, now: MonotonicClock.now)
      return (state.part.apps[id], state.video.usesRTP != usedRTP)
    }
    state.broadcast()
    if isLatencyNew { reporter.latencyChanged() }
    guard let app else { return }
    if !parameters.isH264 {
      reporter.warn(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "\(app.name.quoted) sends \((parameters.videoCodec ?? "?").quoted), which is not shown: formats should list H264 only."
        ))
    }
    reporter.streamStarted(app, .video, on: app.videoTransport) { app.fillVideo($0) }
    reporter.changed(.apps)
  }

  private func receiveVideo(_ bytes: [UInt8], from id: UInt8) {
    let now = MonotonicClock.now
    if state.withLock({ $0.video.append(bytes, from: id, now: now) }) { state.broadcast() }
  }

  private func noteGap(from id: UInt8) {
    state.withLock { $0.video.noteGap(from: id, now: MonotonicClock.now) }
  }

  private func stopVideo(_ reason: HeadUnitSession.StreamStopReason, of id: UInt8) {
    let (app, framesOut) = state.withLock { state in
      state.video.end(by: id, now: MonotonicClock.now)
      state.appsChanged(formerApp: nil, now: MonotonicClock.now)
      return (state.part.apps[id], state.video.counters.framesOut)
    }
    state.broadcast()
    guard let app else { return }
    reporter.streamStopped(app, .video, reason) { $0.set("frames-out", framesOut) }
    reporter.changed(.apps)
  }
}
