import GStreamerKit
import SDLApp
import SDLLink

/// The choice of what is streamed: the first of the head unit's displays that the ranges upstream accept.
extension VideoSink {
  /// Asks upstream what it makes of what the head unit can show, and chooses. Tells the application if nothing is left.
  ///
  /// On the connection thread, the streaming thread, or that of a filter whose ranges have changed; with no lock held.
  func choose(_ cause: ChoiceCause) {
    let displays = cause.displays
    let (asked, number, connection) = state.withLock { state in
      if let displays {
        state.displays = displays
      }
      state.choicesBegun += 1
      return (state.displays, state.choicesBegun, state.connection)
    }
    guard let asked, let connection else { return }
    let choice = VideoChoice(asked, reasons: RangesQuery.ask(cgst_base_sink_pad(element), asked))
    let supported = possible(choice.survivors)
    let policy = settings.withLock { $0.resizePolicy }
    let lostFrames = counters.withLock { $0.framesLost }
    let outcome = state.withLock { state -> VideoSinkState.ChoiceOutcome in
      // The element may have been stopped meanwhile, and another thread may have asked later and be done already.
      guard state.connection === connection else { return .known }
      if displays != nil { state.areDisplaysCurrent = true }
      guard number > state.choiceNumber else { return .known }
      state.choiceNumber = number
      connection.setSupportedDisplays(supported)
      return state.take(choice, policy, isOfHeadUnit: displays != nil, now: MonotonicClock.now, lostFrames: lostFrames)
    }
    log(GST_LEVEL_INFO, "to be streamed: \(choice.survivors), not: \(choice.rejections)")
    // Before frames are dropped for it.
    tellObjection()
    follow(outcome, cause)
    state.broadcast()
    updateWish()
  }

  /// Tells the application, once, why nothing is left.
  func tellObjection() {
    let objection = state.withLock { state -> String? in
      let objection = state.choice?.objection
      defer { state.objection = objection }
      return objection == state.objection ? nil : objection
    }
    if let objection { warn(.stream(GST_STREAM_ERROR_FORMAT, objection)) }
  }

  /// Those of `displays` that upstream's caps allow pictures for.
  private func possible(_ displays: [VideoDisplay]) -> [VideoDisplay] {
    guard !displays.isEmpty, let caps = gst_caps_from_string(capsText(displays)) else { return displays }
    defer { gst_caps_unref(caps) }
    guard let possible = gst_pad_peer_query_caps(cgst_base_sink_pad(element), caps) else { return displays }
    defer { gst_caps_unref(possible) }
    let sizes = CapsSizes.sizes(in: possible, among: displays.compactMap(\.streamSize))
    return displays.filter { $0.streamSize.map(sizes.contains) ?? false }
  }

  /// The answer to a CAPS query when nothing is left: anything, so that the pipeline lives on. What flows now comes first.
  func tolerantCaps() -> UnsafeMutablePointer<GstCaps>? {
    let pad = cgst_base_sink_pad(element)
    guard let template = gst_pad_get_pad_template_caps(pad) else { return nil }
    guard let current = gst_pad_get_current_caps(pad) else { return template }
    return gst_caps_merge(current, template)
  }
}

/// Why the choice is made anew.
enum ChoiceCause {
  /// This is what the head unit can show from now on.
  case headUnit([VideoDisplay])
  /// The app's ranges have changed.
  case ranges
  /// New caps come from upstream, which may be another one.
  case caps

  fileprivate var displays: [VideoDisplay]? {
    if case .headUnit(let displays) = self { displays } else { nil }
  }
}
