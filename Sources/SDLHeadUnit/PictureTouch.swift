import SDLMessages

/// Fingers on the app's pictures, wherever those are shown: an ``OnTouchEvent`` before it is known where its pixels are.
public struct PictureTouch: Equatable, Sendable {
  /// Where a finger was, and when.
  public struct Sample: Equatable, Sendable {
    /// In pixels of the picture, from its left edge; always a finite number.
    public var x: Double
    /// From the upper edge.
    public var y: Double
    /// By the clock of the session.
    public var time: Duration

    /// Memberwise.
    public init(x: Double, y: Double, time: Duration) {
      self.x = x
      self.y = y
      self.time = time
    }
  }

  /// A finger's way since the last time.
  public struct Finger: Equatable, Sendable {
    /// 0…9.
    public var id: Int
    /// Oldest first.
    public var samples: [Sample]

    /// Memberwise.
    public init(id: Int, samples: [Sample]) {
      self.id = id
      self.samples = samples
    }
  }

  /// What all its fingers do.
  public var kind: OnTouchEvent.Kind
  public var fingers: [Finger]

  /// Memberwise.
  public init(kind: OnTouchEvent.Kind, fingers: [Finger]) {
    self.kind = kind
    self.fingers = fingers
  }

  /// As the app is told of it: in pixels of `display`, which pictures of the size `picture` fill, with times in ms.
  public func onDisplay(_ display: ImageResolution, picture: ImageResolution) -> OnTouchEvent {
    OnTouchEvent(
      kind: kind,
      fingers: fingers.map { finger in
        OnTouchEvent.Finger(
          id: finger.id,
          samples: finger.samples.map { sample in
            OnTouchEvent.Sample(
              x: Self.map(sample.x, picture.width, display.width),
              y: Self.map(sample.y, picture.height, display.height),
              time: HeadUnitSession.milliseconds(sample.time))
          })
      })
  }

  /// By the ratio of the sizes, and cut to the display. Not by the head unit's `scale`, because encoded sizes are even.
  private static func map(_ coordinate: Double, _ picture: Int, _ display: Int) -> Int {
    let last = min(display, OnTouchEvent.coordinates.upperBound) - 1
    guard picture > 0, last > 0 else { return 0 }
    let exact = (coordinate * Double(display) / Double(picture)).rounded()
    return Int(min(max(exact, 0), Double(last)))
  }
}

extension HeadUnitSession {
  /// The driver touches the pictures, of the size `picture`, in a window that shows them. Does nothing before the
  /// app's first video service, or while it may not be told.
  public mutating func touch(_ touch: PictureTouch, picture: ImageResolution, now: Duration) -> [Action] {
    guard let shownOn else { return [] }
    return self.touch(touch.onDisplay(shownOn, picture: picture), now: now)
  }
}
