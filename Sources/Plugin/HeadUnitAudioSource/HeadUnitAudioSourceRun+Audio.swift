import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// What apps do with their sound.
extension HeadUnitAudioSourceRun {
  func receiveStream(_ event: HeadUnitSession.Event, from id: UInt8, isReporting: Bool) {
    switch event {
    case .audioData(let bytes):
      let now = MonotonicClock.now
      if state.withLock({ $0.audio.append(bytes, from: id, now: now) }) { state.broadcast() }
    case .audioStarted(let format, _): startAudio(format, by: id)
    case .audioRefused(let rejection):
      let app = state.withLock { state in
        state.part.totals.streamRefusals &+= 1
        return state.part.apps[id]
      }
      reporter.streamRefused(rejection, of: app, .audio)
    case .audioStopped(let reason, _): stopAudio(reason, of: id)
    default: break
    }
  }

  private func startAudio(_ format: PCMFormat, by id: UInt8) {
    let app = state.withLock { state in
      state.part.totals.streamStarts &+= 1
      state.audio.begin(by: id)
      return state.part.apps[id]
    }
    guard let app else { return }
    reporter.streamStarted(app, .audio, on: app.audioTransport ?? .primary) { message in
      message.set("rate", Int32(clamping: format.samplingRate.hertz))
      message.set("format", format.formatName)
    }
    reporter.changed(.apps)
  }

  private func stopAudio(_ reason: HeadUnitSession.StreamStopReason, of id: UInt8) {
    let (app, samplesOut) = state.withLock { state in
      state.audio.end(by: id)
      return (state.part.apps[id], state.audio.counters.samplesOut)
    }
    guard let app else { return }
    reporter.streamStopped(app, .audio, reason) { $0.set("samples-out", samplesOut) }
    reporter.changed(.apps)
  }
}

extension PCMFormat.SampleSize {
  /// A byte of silence.
  var silence: UInt8 {
    switch self {
    case .bits8: 0x80
    case .bits16: 0
    }
  }
}
