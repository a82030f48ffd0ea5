import GStreamerKit
import SDLApp
import SDLLink

/// Caps: the one format that the head unit plays, and what upstream sends.
extension AudioSink {
  /// The answer to a CAPS query; nil, which stands for the template, until the head unit is known.
  func caps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    guard let format = acceptedFormat() else { return nil }
    let caps = format.caps
    guard let filter else { return caps.take() }
    let wanted = Caps(retaining: filter)
    let common = wanted.intersected(with: caps)
    // Upstream may have chosen its first caps before the head unit was known. Transform elements ask about them with a
    // filter, and nothing in common would end the pipeline. So they pass, and upstream is asked for others when they come.
    guard common.isEmpty, stream != nil, gst_pad_has_current_caps(pad) == 0 else { return common.take() }
    return wanted.intersected(with: Caps.template(of: pad)).take()
  }

  private func acceptedFormat() -> PCMFormat? {
    guard let app else { return nil }
    guard settings.withLock({ $0.suspendPolicy }) != .drop, choosesByCaps else { return app.status.pcmFormat }
    let hasStream = stream != nil
    // While the pad flushes, its thread is waited for. In READY it is flushing too, but nobody is.
    return app.soundForCaps(of: self) { hasStream && cgst_pad_is_flushing(self.pad) != 0 }
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    guard query.pointee.type == GST_QUERY_ACCEPT_CAPS else {
      return answerByParent(query)
    }
    // Any format of SDL stays acceptable: an error that says what is wrong helps more than a link that fails.
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(query, &caps)
    guard let caps else { return false }
    let isAccepted = Caps(retaining: caps).isSubset(of: Caps.template(of: pad))
    gst_query_set_accept_caps_result(query, isAccepted ? 1 : 0)
    return true
  }
}

extension AudioStreamRun {
  /// Caps arrive; false if they can't be read.
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    samples.withValue { path in
      guard let structure = StructureView(caps: caps, 0), let format = PCMFormat(structure) else { return false }
      if path.format != format { sendRest(of: path) }
      path.setFormat(format, volume: sink.settings.withLock { $0.gain })
      sink.log(GST_LEVEL_INFO, "input \(format)")
      change { $0.inputChanged(format) }
      return true
    }
  }

  /// Whether the input has the format that the head unit plays. If not, upstream is asked for another one, and nothing is sent
  /// until that comes.
  ///
  /// - Parameter count: of the samples at hand.
  /// - Throws: when upstream has no other.
  func checkFormat(_ path: SamplePath, _ count: Int) throws(ElementError) -> Bool {
    guard let input = path.format, let headUnit = app.status.pcmFormat, input != headUnit else {
      path.mismatch = nil
      return true
    }
    let now = time.now
    let isNew = path.mismatch == nil
    var mismatch = path.mismatch ?? AudioFormatMismatch(format: input, now: now)
    mismatch.add(count)
    path.mismatch = mismatch
    guard isNew ? askUpstream(for: headUnit) : !mismatch.isOver(now: now) else {
      throw ElementError(AudioProblem.wrongFormat(input: input, headUnit: headUnit))
    }
    return false
  }

  /// What was wrong with the last samples, at the end of the stream; nil if they were sent.
  func finalMismatch(_ path: SamplePath) -> ElementError? {
    guard path.mismatch != nil, let input = path.format, let headUnit = app.status.pcmFormat else { return nil }
    return ElementError(AudioProblem.wrongFormat(input: input, headUnit: headUnit))
  }

  /// - Returns: false if upstream can't send that.
  private func askUpstream(for format: PCMFormat) -> Bool {
    let wanted = format.caps
    guard let answer = Caps.peerQuery(sink.pad, filter: wanted), !answer.intersected(with: wanted).isEmpty
    else { return false }
    sink.log(GST_LEVEL_INFO, "asking upstream for \(format)")
    unlocked { _ = Event.reconfigure()?.push(on: sink.pad) }
    return true
  }
}
