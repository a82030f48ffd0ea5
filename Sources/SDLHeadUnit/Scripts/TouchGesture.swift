import SDLMessages

/// A gesture of one finger: a tap, or a straight swipe at constant speed.
package struct TouchGesture: Equatable, Sendable {
  package var start: OnTouchEvent.Sample
  package var end: OnTouchEvent.Sample
  /// From touch to release.
  package var duration: Duration

  /// Between two messages of a finger that moves, as from a touch screen at 50 Hz.
  private static let interval = Duration.milliseconds(20)
  private static let tapTime = Duration.milliseconds(50)
  private static let swipeTime = Duration.milliseconds(300)
  private static let longestTime = Duration.seconds(10)

  /// Creates a gesture. ``messages`` clamps coordinates and duration to those of a screen.
  package init(from start: OnTouchEvent.Sample, to end: OnTouchEvent.Sample, duration: Duration) {
    self.start = start
    self.end = end
    self.duration = duration
  }

  /// The messages to the app, with their times after the first: at most 10 s. The positions are within
  /// `OnTouchEvent.coordinates`.
  package var messages: [(time: Duration, event: OnTouchEvent)] {
    let (start, end) = (Self.onScreen(start), Self.onScreen(end))
    let duration = min(max(duration, .zero), Self.longestTime)
    var messages = [(Duration.zero, event(.begin, at: start))]
    if start != end {
      let count = max(Int(duration / Self.interval), 1)
      for index in 1...count {
        let share = Double(index) / Double(count)
        let place = OnTouchEvent.Sample(
          x: Self.between(start.x, end.x, share), y: Self.between(start.y, end.y, share))
        messages.append((duration * share, event(.move, at: place)))
      }
    }
    messages.append((duration, event(.end, at: end)))
    return messages
  }

  private static func onScreen(_ place: OnTouchEvent.Sample) -> OnTouchEvent.Sample {
    func clamped(_ coordinate: Int) -> Int {
      min(max(coordinate, OnTouchEvent.coordinates.lowerBound), OnTouchEvent.coordinates.upperBound)
    }
    return OnTouchEvent.Sample(x: clamped(place.x), y: clamped(place.y))
  }

  private static func between(_ start: Int, _ end: Int, _ share: Double) -> Int {
    start + Int((Double(end - start) * share).rounded())
  }

  private func event(_ kind: OnTouchEvent.Kind, at place: OnTouchEvent.Sample) -> OnTouchEvent {
    OnTouchEvent(kind: kind, fingers: [OnTouchEvent.Finger(id: 0, samples: [place])])
  }

  /// Parses "tap X Y" or "swipe X Y X Y [SECONDS]", with a swipe of at most 10 s.
  init?(_ words: [String]) {
    let isSwipe = words.first == "swipe" && (5...6).contains(words.count)
    guard isSwipe || words.first == "tap" && words.count == 3 else { return nil }
    let numbers = words[1..<(isSwipe ? 5 : 3)].compactMap { Int($0) }.filter(OnTouchEvent.coordinates.contains)
    guard numbers.count == (isSwipe ? 4 : 2) else { return nil }
    start = OnTouchEvent.Sample(x: numbers[0], y: numbers[1])
    end = isSwipe ? OnTouchEvent.Sample(x: numbers[2], y: numbers[3]) : start
    duration = isSwipe ? Self.swipeTime : Self.tapTime
    guard words.count == 6 else { return }
    guard let time = CommandParser.seconds(words[5]), time <= Self.longestTime else { return nil }
    duration = time
  }
}

extension OnTouchEvent {
  /// Of the command `touch KIND ID X Y [ID X Y ...]`: several positions of one finger are its path, oldest first.
  ///
  /// - Parameter arguments: the words behind `touch`.
  init?(command arguments: [String]) {
    let numbers = arguments.dropFirst().map { Int($0) }
    guard arguments.count > 3, numbers.count.isMultiple(of: 3),
      let kind = Kind.allCases.first(where: { $0.rawValue.lowercased() == arguments[0] })
    else { return nil }
    var fingers: [Finger] = []
    for start in stride(from: 0, to: numbers.count, by: 3) {
      guard let id = numbers[start], let x = numbers[start + 1], let y = numbers[start + 2], Self.ids.contains(id),
        Self.coordinates.contains(x), Self.coordinates.contains(y)
      else { return nil }
      let sample = Sample(x: x, y: y)
      if let index = fingers.firstIndex(where: { $0.id == id }) {
        fingers[index].samples.append(sample)
      } else {
        fingers.append(Finger(id: id, samples: [sample]))
      }
    }
    self.init(kind: kind, fingers: fingers)
  }
}
