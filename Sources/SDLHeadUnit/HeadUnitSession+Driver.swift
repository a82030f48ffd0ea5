import SDLMessages

/// What the driver does, and what happens around the app. Without a registered app only what concerns the future counts.
extension HeadUnitSession {
  /// The user opens the app: FULL, or what the present events leave of it.
  public mutating func activateApp(now: Duration) -> [Action] {
    openApp(now: now)
    return takeActions()
  }

  /// An event begins or ends; the app gets a status if its own changes by that. An app that registers later is told
  /// accordingly, so that a new session can be brought up to date with this.
  public mutating func setEvent(_ event: HMIEvent, isActive: Bool, now: Duration) -> [Action] {
    if isActive { hmiEvents.insert(event) } else { hmiEvents.remove(event) }
    if let app, effectiveStatus(of: app) != app.status { apply(app.chosenStatus, now: now) }
    return takeActions()
  }

  /// OnDriverDistraction.
  public mutating func setDriverDistraction(_ distraction: OnDriverDistraction, now: Duration) -> [Action] {
    if app != nil { notify(.onDriverDistraction, distraction.json) }
    return takeActions()
  }

  /// The driver touches the screen. As with SDL Core, only apps that can show video are told, and only at FULL.
  /// Samples without a time are given the present one.
  public mutating func touch(_ event: OnTouchEvent, now: Duration) -> [Action] {
    guard let app, app.mayStreamVideo, app.status.level == .full else { return [] }
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

  /// Begins again when the range of time stamps is used up.
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

  /// Decides on the next StartService(video) that is allowed at all, or on the one after those decided on already.
  public mutating func answerNextVideoStart(_ answer: HeadUnitBehaviour.VideoStartAnswer) {
    guard nextVideoAnswers.count < Self.mostAnswersInAdvance else { return }
    nextVideoAnswers.append(answer)
  }

  private static let mostAnswersInAdvance = 100

  /// Whether StartService and EndService of the video service get no answer. A start is lost, an end is carried out.
  public mutating func setVideoSilence(_ isSilent: Bool) {
    isSilentOnVideo = isSilent
  }
}
