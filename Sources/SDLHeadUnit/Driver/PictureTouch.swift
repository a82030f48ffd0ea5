import SDLMessages

/// Fingers on the app's pictures: an ``OnTouchEvent`` in pixels of the pictures instead of the display.
package struct PictureTouch: Equatable, Sendable {
  /// A position of a finger, with its time.
  package struct Sample: Equatable, Sendable {
    /// In pixels of the picture, from its left edge; finite.
    package var x: Double
    /// In pixels of the picture, from its upper edge; finite.
    package var y: Double
    /// By the clock of the session.
    package var time: Duration

    package init(x: Double, y: Double, time: Duration) {
      self.x = x
      self.y = y
      self.time = time
    }
  }

  /// The path of a finger since the last touch event.
  package struct Finger: Equatable, Sendable {
    /// 0…9.
    package var id: Int
    /// Oldest first.
    package var samples: [Sample]

    package init(id: Int, samples: [Sample]) {
      self.id = id
      self.samples = samples
    }
  }

  /// The same for all its fingers.
  package var kind: OnTouchEvent.Kind
  package var fingers: [Finger]

  package init(kind: OnTouchEvent.Kind, fingers: [Finger]) {
    self.kind = kind
    self.fingers = fingers
  }

  /// The message for the app, with times in ms.
  /// - Parameters:
  ///   - display: its size in pixels; the pictures fill it.
  ///   - picture: the size of the pictures.
  package func onDisplay(_ display: VideoSize, picture: VideoSize) -> OnTouchEvent {
    OnTouchEvent(
      kind: kind,
      fingers: fingers.map { finger in
        OnTouchEvent.Finger(
          id: finger.id,
          samples: finger.samples.map { sample in
            OnTouchEvent.Sample(
              x: Self.map(sample.x, picture.width, display.width),
              y: Self.map(sample.y, picture.height, display.height),
              time: sample.time.timestamp)
          })
      })
  }

  /// By the ratio of the sizes, clamped to the display. The head unit's `scale` would be inexact, because encoded sizes
  /// are even.
  private static func map(_ coordinate: Double, _ picture: Int, _ display: Int) -> Int {
    guard picture > 0, display > 1 else { return 0 }
    let last = min(display, OnTouchEvent.coordinates.upperBound) - 1
    let exact = (coordinate * Double(display) / Double(picture)).rounded()
    return Int(min(max(exact, 0), Double(last)))
  }
}

extension Duration {
  /// In ms; wraps at the end of the range of time stamps.
  var timestamp: Int {
    let limit = Int64(OnTouchEvent.times.upperBound)
    return Int((components.seconds % limit * 1000 + components.attoseconds / 1_000_000_000_000_000) % limit)
  }
}
