import SDLMessages

/// Inputs from the driver and the vehicle. Those for an app are ignored while none is registered.
extension HeadUnitSession {
  /// The driver opens the app: FULL, or what the active events leave of it.
  public mutating func activateApp(now: Duration) -> [Action] {
    openApp(now: now)
    return takeActions()
  }

  /// An event begins or ends; a new status is sent if the app's changes. An app that registers later is restricted as well.
  public mutating func setEvent(_ event: HMIEvent, isActive: Bool, now: Duration) -> [Action] {
    if isActive { hmiEvents.insert(event) } else { hmiEvents.remove(event) }
    sendChangedStatus(now: now)
    return takeActions()
  }

  /// Another source of the car sounds, or no longer does: the app is played, played more quietly, or not at all. Ignored at
  /// NONE, where no app is heard. An active event may restrict it further; the next change of the level ends it.
  public mutating func setAudioStreaming(_ state: AudioStreamingState, now: Duration) -> [Action] {
    guard var status = app?.chosenStatus, status.level != HMILevel.none else { return [] }
    status.audioStreamingState = state
    apply(status, now: now)
    return takeActions()
  }

  /// OnDriverDistraction.
  public mutating func setDriverDistraction(_ distraction: OnDriverDistraction, now: Duration) -> [Action] {
    if app != nil { notify(.onDriverDistraction, distraction.json) }
    return takeActions()
  }

  /// The driver touches the screen. As with SDL Core, OnTouchEvent goes only to apps that can show video, and only at FULL,
  /// if the policies allow it at all.
  /// Samples without a time get the present one.
  public mutating func touch(_ event: OnTouchEvent, now: Duration) -> [Action] {
    guard let app, app.mayStream, configuration.policy.allows(.onTouchEvent, at: app.status.level) else { return [] }
    var event = event
    let time = Self.milliseconds(now)
    for finger in event.fingers.indices {
      for sample in event.fingers[finger].samples.indices where event.fingers[finger].samples[sample].time == nil {
        event.fingers[finger].samples[sample].time = time
      }
    }
    notify(.onTouchEvent, event.json)
    report(.touchSent(event))
    return takeActions()
  }

  /// In ms; wraps at the end of the range of time stamps.
  static func milliseconds(_ time: Duration) -> Int {
    let (seconds, attoseconds) = time.components
    let limit = Int64(OnTouchEvent.times.upperBound)
    return Int((seconds % limit * 1000 + attoseconds / 1_000_000_000_000_000) % limit)
  }

  /// The window of the app gets another size, and from now on no other is accepted. As with ``updateCapability(_:now:)``
  /// an app gets the update only when it has subscribed. It holds size and scale, so the rest is unchanged.
  /// - Parameter scale: 1…10, or nil for the present one.
  public mutating func resize(to size: ImageResolution, scale: Double?, now: Duration) -> [Action] {
    guard app != nil else { return [] }
    var update = VideoStreamingCapability()
    update.preferredResolution = size
    update.scale = scale
    var resized = update
    resized.scale = scale ?? window?.scale ?? capability?.scale
    window = resized
    sendCapabilityUpdate(update, now: now)
    return takeActions()
  }

  /// Sets the answer to the next StartService(video) that is allowed; several calls answer as many starts, in order.
  public mutating func answerNextVideoStart(_ answer: HeadUnitBehaviour.VideoStartAnswer) {
    guard nextVideoAnswers.count < Self.mostAnswersInAdvance else { return }
    nextVideoAnswers.append(answer)
  }

  private static let mostAnswersInAdvance = 100

  /// Sets whether StartService and EndService of the video service get no answer. A start is ignored, an end is carried out.
  public mutating func setVideoSilence(_ isSilent: Bool) {
    isSilentOnVideo = isSilent
  }
}
