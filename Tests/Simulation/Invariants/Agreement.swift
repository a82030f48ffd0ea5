import SDLApp

@testable import SDLHeadUnit

/// Whether an app and its head unit have the same idea of their state, once nothing has happened for a while.
struct Agreement {
  /// How long that has to be.
  static let settling = Duration.seconds(3)

  private static let functions: [FunctionID] = [
    .onTouchEvent, .sendHapticData, .subscribeButton, .onButtonPress, .getSystemCapability, .putFile, .setAppIcon,
    .closeApplication,
  ]

  let policy: PolicyTable
  /// What the head unit has reported.
  let headUnit: HeadUnitWatch
  /// Events that restrict all apps: the first words of their commands.
  let events: Set<String>
  /// The driver may have restricted an app by hand.
  let isRestricted: Bool
  /// The head unit answers each end of a service.
  let answersEnds: Bool

  /// - Parameter isUndisturbed: nothing was ever late since the app was registered, so that each request was answered.
  /// - Returns: what they do not agree on.
  func fault(_ app: SimulatedApp, isUndisturbed: Bool) -> String? {
    guard let status = headUnit.status(of: app.name), app.status.headUnit != nil, app.endDeadline == nil else {
      return nil
    }
    guard let known = app.status.hmi, known.level == status.level, known.systemContext == status.systemContext,
      known.videoStreamingState == status.videoStreamingState, known.audioStreamingState == status.audioStreamingState
    else {
      return "\(app.name) has the status \(String(describing: app.status.hmi)) instead of \(status)"
    }
    return restrictionFault(status, app) ?? permissionFault(app) ?? serviceFault(app)
      ?? (isUndisturbed ? buttonFault(app) ?? hapticFault(app) : nil)
  }

  /// A phone call takes the sound, an emergency and the car's own navigation the picture as well; afterwards both are
  /// back.
  private func restrictionFault(_ status: HMIStatus, _ app: SimulatedApp) -> String? {
    guard status.level == .full else { return nil }
    if events.contains("embedded-navi") { return "\(app.name) is in front of the car's own navigation" }
    let isPlayed = status.audioStreamingState != .notAudible
    let isShown = status.videoStreamingState == .streamable
    if !events.isEmpty, isPlayed { return "\(app.name) is played during \(events)" }
    if events.contains("emergency"), isShown { return "\(app.name) is shown in an emergency" }
    guard events.isEmpty, !isRestricted else { return nil }
    return isPlayed && isShown ? nil : "\(app.name) has the status \(status) after the end of all events"
  }

  private func permissionFault(_ app: SimulatedApp) -> String? {
    guard let permissions = app.status.permissions else { return "\(app.name) knows no policy" }
    guard let policy = policy.policy(of: app.name) else { return "\(app.name) is registered, but revoked" }
    for function in Self.functions {
      for level in HMILevel.allCases where permissions.allow(function, at: level) != policy.allows(function, at: level)
      {
        return "\(app.name): permission for \(function) at \(level)"
      }
    }
    return nil
  }

  /// What one of them has open, the other has as well.
  private func serviceFault(_ app: SimulatedApp) -> String? {
    guard answersEnds else { return nil }
    let services = [
      ("video", app.status.video.state, app.isVideoSettled, headUnit.hasVideo(of: app.name)),
      ("sound", app.status.audio.state, app.isAudioSettled, headUnit.hasAudio(of: app.name)),
    ]
    for (name, state, isSettled, isOpen) in services where isSettled {
      switch state {
      case .starting, .stopping: break
      case .stopped: if isOpen { return "\(app.name) has no \(name), the head unit a service" }
      case .streaming, .suspended: if !isOpen { return "\(app.name) has \(name), the head unit no service" }
      }
    }
    return nil
  }

  /// Where a session subscribes to buttons, the driver's OK is one of them.
  private func buttonFault(_ app: SimulatedApp) -> String? {
    guard app.status.permissions?.allow(.subscribeButton, at: app.status.hmi?.level) == true else { return nil }
    let hasOK = headUnit.buttons(of: app.name).contains("OK")
    return hasOK == app.wantsButtons ? nil : "\(app.name) \(hasOK ? "has" : "lacks") a button"
  }

  private func hapticFault(_ app: SimulatedApp) -> String? {
    // Whichever display is streamed to.
    let displays = app.status.videoCapability?.capability.map { [$0] + ($0.additionalCapabilities ?? []) } ?? []
    let takesRectangles =
      app.status.video.state == .streaming && displays.first?.hapticSpatialDataSupported == true
      && displays.allSatisfy { $0.hapticSpatialDataSupported != false }
    guard let count = app.rectangleCount, takesRectangles, app.status.hmi?.level == .full,
      app.status.permissions?.allow(.sendHapticData, at: .full) == true
    else { return nil }
    let known = headUnit.rectangleCount(of: app.name) ?? 0
    return known == count ? nil : "\(app.name) has \(count) haptic rectangles, the head unit \(known)"
  }
}
