/// Times in which the head unit itself does not read what the app sends.
extension HeadUnitSession {
  /// Sets whether what the app sends is read, which it is from the start.
  ///
  /// Meanwhile nothing is expected of the app, and what it sends piles up. So that nothing of it is taken for the app's
  /// fault, deadlines for the app are postponed by the time without reading, a pause of the video is not seen in it, and
  /// the rates of video and sound are compared with the whole time in which it may have been sent.
  public mutating func setReading(_ isReading: Bool, now: Duration) -> [Action] {
    if isReading {
      resumeReading(now: now)
    } else if notReadingSince == nil {
      notReadingSince = now
      timers.holdAppDeadlines()
    }
    return takeActions()
  }

  /// A clock that stands still while nothing is read: the rest of a message may have come then.
  func readingTime(at now: Duration) -> Duration { now - timeWithoutReading }

  mutating func resumeReading(now: Duration) {
    guard let since = notReadingSince.take() else { return }
    let time = max(now - since, .zero)
    timers.releaseAppDeadlines(postponedBy: time)
    timeWithoutReading += time
    checker.expectBacklog(of: time, now: now)
    audioChecker.expectBacklog(of: time, now: now)
    video.postpone(by: time)
    audio.postpone(by: time)
  }
}

extension HeadUnitSession.MediaService {
  /// As if what has ended, or was forbidden, had been so later.
  fileprivate mutating func postpone(by time: Duration) {
    switch self {
    case .closed(let end?): self = .closed(endedAt: end + time)
    case .open(.grace(let since)): self = .open(.grace(since: since + time))
    case .open(.forbidden(let since)): self = .open(.forbidden(since: since + time))
    case .ending(let since): self = .ending(since: since + time)
    case .closed(nil), .unanswered, .open(.allowed): break
    }
  }
}
