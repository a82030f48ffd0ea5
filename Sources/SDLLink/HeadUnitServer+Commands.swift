import SDLHeadUnit
import SDLMessages

/// The remote control, from any thread.
extension HeadUnitServer {
  /// Carries a command out, on the server's thread. Without a recipient nothing happens; ``HeadUnitCommand/help`` is the
  /// caller's business.
  public func perform(_ command: HeadUnitCommand) {
    switch command {
    case .level(let level, let state):
      let status = HMIStatus(
        level: level, audioStreamingState: level == .full || level == .limited ? .audible : .notAudible,
        videoStreamingState: state)
      steer(.appOnScreen) { $0.setHMIStatus(status, now: $1) }
    case .event(let event, let isActive): give(.situate(.event(event, isActive: isActive)))
    case .silent(let isSilent): give(.situate(.videoSilence(isSilent)))
    case .resize(let size, let scale): steer(.appOnScreen) { $0.resize(to: size, scale: scale, now: $1) }
    case .frameRate(let rate): update { $0.preferredFPS = rate }
    case .maximumBitrate(let bitrate): update { $0.maxBitrate = bitrate }
    case .driverDistraction(let distraction): steer(.everyApp) { $0.setDriverDistraction(distraction, now: $1) }
    case .activate(let id): steer(id.map { .app($0) } ?? .appOnScreen) { $0.activateApp(now: $1) }
    case .touch(let event): steer(.appOnScreen) { $0.touch(event, now: $1) }
    case .endVideo: steer(.appOnScreen) { $0.endVideoService(now: $1) }
    case .cut: give(.disconnect(.appOnScreen))
    case .ignitionOff: steer(.everyApp) { $0.unregisterApp(.ignitionOff, now: $1) }
    case .refuse(let parameters):
      steer(.appOnScreen) { session, _ in
        session.refuseNextVideoStart(parameters)
        return []
      }
    case .stall(let time): give(.stall(time))
    case .refuseConnections(let isRefusing): give(.refuseConnections(isRefusing))
    case .help: break
    }
  }

  /// Tells the app on the screen of a change, and of nothing else.
  private func update(_ change: (inout VideoStreamingCapability) -> Void) {
    var update = VideoStreamingCapability()
    change(&update)
    steer(.appOnScreen) { [update] in $0.updateCapability(update, now: $1) }
  }
}
