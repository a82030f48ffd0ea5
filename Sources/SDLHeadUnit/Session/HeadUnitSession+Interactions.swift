import SDLMessages

/// What apps show in front of their screen: how it begins and ends.
extension HeadUnitSession {
  mutating func beginInteraction(_ request: RPCMessage, _ app: RegisteredApp, now: Duration) {
    var interaction: AppInteraction
    do throws(RequestRefusal) {
      interaction = try AppInteraction(request, menu: app.menu)
      interaction.warning = requestWarning
    } catch {
      return respond(to: request, success: false, error.code)
    }
    guard app.interactions[interaction.layer] == nil, overlaysOfOthers.until[interaction.layer] == nil else {
      return refuseInteraction(request, interaction.layer, now: now)
    }
    self.app?.interactions[interaction.layer] = interaction
    timers.arm(interaction.layer.timer, at: now + interaction.duration)
    report(.interactionShown(interaction.function, for: interaction.duration, interaction.driverInputs))
    sendChangedStatus(now: now)
  }

  /// One at a time, of all apps; alerts get the time after which the app may try again.
  private mutating func refuseInteraction(_ request: RPCMessage, _ layer: AppInteraction.Layer, now: Duration) {
    let result = RPCResult(success: false, resultCode: .rejected).json
    let end = timers.deadline(of: layer.timer) ?? overlaysOfOthers.until[layer]
    let rest = layer == .alert ? end.map { max($0 - now, .zero) } : nil
    let members = JSONObject(rest.map { [("tryAgainTime", .integer(Self.milliseconds($0)))] } ?? []) { $1 }
    respond(to: request, result.merging(members) { $1 })
  }

  /// Its time is over.
  mutating func interactionDue(_ layer: AppInteraction.Layer, now: Duration) {
    guard let interaction = app?.interactions[layer] else { return }
    endInteraction(layer, interaction.resultAtTimeout, now: now)
  }

  /// Answers the request, and then tells the app that its screen is free.
  mutating func endInteraction(
    _ layer: AppInteraction.Layer, _ code: ResultCode, _ members: JSONObject = [:], now: Duration
  ) {
    guard let interaction = app?.interactions.removeValue(forKey: layer) else { return }
    answer(interaction, code, members)
    sendChangedStatus(now: now)
  }

  mutating func answer(_ interaction: AppInteraction, _ code: ResultCode, _ members: JSONObject = [:]) {
    timers.cancel(interaction.layer.timer)
    let request = RPCMessage(
      type: .request, function: interaction.function, correlationID: interaction.correlationID)
    let position = interaction.sliderPosition.map { ["sliderPosition": JSONValue.integer($0)] } ?? [:]
    let result = RPCResult(success: code == .success, resultCode: code).json
    respond(to: request, result.merging(members) { $1 }.merging(position) { $1 }, warning: interaction.warning)
    report(.interactionEnded(interaction.function, code))
  }

  /// CancelInteraction: without `cancelID` for whatever of this kind is shown.
  mutating func cancelInteraction(_ request: RPCMessage, _ app: RegisteredApp, now: Duration) {
    guard let number = request.parameters["functionID"]?.integer,
      request.parameters["cancelID"].map({ $0.integer != nil }) ?? true
    else {
      return respond(to: request, success: false, .invalidData)
    }
    let function = UInt32(exactly: number).map { FunctionID(rawValue: $0) }
    guard let function, let layer = AppInteraction.Layer(function) else {
      return respond(to: request, success: false, .invalidID)
    }
    let cancelID = request.parameters["cancelID"]?.integer
    guard let shown = app.interactions[layer], shown.function == function,
      cancelID == nil || cancelID == shown.cancelID
    else {
      return respond(to: request, success: false, .ignored)
    }
    endInteraction(layer, .aborted, now: now)
    respond(to: request, success: true, .success)
  }

  /// Sends the status if anything of it has changed: an event, or what is in front of the screen.
  mutating func sendChangedStatus(now: Duration) {
    guard let app, effectiveStatus(of: app) != app.status else { return }
    apply(app.chosenStatus, now: now)
  }
}

/// What is said for the app, and recorded for it.
extension HeadUnitSession {
  mutating func speak(_ request: RPCMessage, _ app: RegisteredApp, now: Duration) {
    let chunks = request.parameters["ttsChunks"]
    if SpokenPrompts.isFileMissing(in: chunks, files: app.files) {
      return respond(to: request, success: false, .fileNotFound)
    }
    let prompt = SpokenPrompts.Prompt(
      correlationID: request.correlationID, duration: SpokenPrompts.duration(of: chunks), warning: requestWarning)
    guard self.app?.prompts.add(prompt) == true else { return respond(to: request, success: false, .rejected) }
    if app.prompts.current == nil { timers.arm(.speech, at: now + prompt.duration) }
  }

  mutating func promptDue(now: Duration) {
    guard let prompt = app?.prompts.removeCurrent() else { return }
    if let next = app?.prompts.current { timers.arm(.speech, at: now + next.duration) }
    answer(.speak, prompt.correlationID, .success, warning: prompt.warning)
  }

  mutating func record(_ request: RPCMessage, _ app: RegisteredApp, now: Duration) {
    let prompt = request.parameters["initialPrompt"]
    if SpokenPrompts.isFileMissing(in: prompt, files: app.files) {
      return respond(to: request, success: false, .fileNotFound)
    }
    // One at a time.
    guard app.recording == nil else { return respond(to: request, success: false, .rejected) }
    let start = prompt == nil ? now : now + SpokenPrompts.duration(of: prompt)
    guard let recording = MicrophoneRecording(request, warning: requestWarning, start: start) else {
      return respond(to: request, success: false, .invalidData)
    }
    self.app?.recording = recording
    timers.arm(.microphone, at: recording.nextDeadline)
  }

  mutating func recordingDue(now: Duration) {
    guard var recording = app?.recording else { return }
    let sound = recording.take(until: now)
    if !sound.isEmpty { notify(.onAudioPassThru, [:], bulk: sound) }
    guard recording.isOver else {
      app?.recording = recording
      return timers.arm(.microphone, at: recording.nextDeadline)
    }
    app?.recording = nil
    answer(.performAudioPassThru, recording.correlationID, .success, warning: recording.warning)
  }

  /// The app has heard enough.
  mutating func endRecording(_ request: RPCMessage, _ app: RegisteredApp) {
    guard let recording = app.recording else { return respond(to: request, success: false, .rejected) }
    self.app?.recording = nil
    timers.cancel(.microphone)
    respond(to: request, success: true, .success)
    answer(.performAudioPassThru, recording.correlationID, .success, warning: recording.warning)
  }

  mutating func abortSpeech(notAllowedAt level: HMILevel?) {
    if !configuration.policy.allows(.speak, at: level), let prompts = app?.prompts.removeAll(), !prompts.isEmpty {
      timers.cancel(.speech)
      for prompt in prompts { answer(.speak, prompt.correlationID, .aborted, warning: nil) }
    }
    guard !configuration.policy.allows(.performAudioPassThru, at: level), let recording = app?.recording.take() else {
      return
    }
    timers.cancel(.microphone)
    answer(.performAudioPassThru, recording.correlationID, .aborted, warning: nil)
  }

  private mutating func answer(_ function: FunctionID, _ id: Int32, _ code: ResultCode, warning: String?) {
    let request = RPCMessage(type: .request, function: function, correlationID: id)
    respond(to: request, RPCResult(success: code == .success, resultCode: code).json, warning: warning)
  }
}
