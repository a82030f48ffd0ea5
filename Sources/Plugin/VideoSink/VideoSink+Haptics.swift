import GStreamerKit
import SDLApp

/// Touchable rectangles, which some head units want to know: from the frames, or from the application.
extension VideoSink {
  /// Looks at the regions of a frame that is about to be sent, or dropped: they hold until a frame has others.
  func observeRegions(of buffer: UnsafeMutablePointer<GstBuffer>) {
    let hasChanged = input.regions.update(from: buffer)
    guard hasChanged || !input.regions.rectangles.isEmpty else { return }
    let isNews = state.withLock { state in
      guard hasChanged || state.regions?.pictureSize != state.inputSize else { return false }
      state.regions = HapticRectangleList(input.regions.rectangles, pictureSize: state.inputSize)
      return true
    }
    guard isNews else { return }
    updateHapticRectangles()
    if input.regions.rectangles.count > SendHapticData.maximumCount, !input.hasWarnedOfRegions {
      input.hasWarnedOfRegions = true
      warnAboutCut("A frame has")
    }
  }

  /// Tells the connection what can be touched now. The lock is kept, so that the last list told is the newest.
  func updateHapticRectangles() {
    state.withLock { state in
      let own = settings.withLock { $0.hapticRectangles }
      state.connection?.setHapticRectangles(state.hapticRectangles(own))
    }
  }

  /// The property `haptic-rectangles`.
  func setHapticRectangles(_ value: UnsafePointer<GValue>) {
    guard let rows = IntegerRows.read(value),
      rows.allSatisfy({ $0.count == 4 && $0[2] >= 0 && $0[3] >= 0 })
    else {
      return refuse(
        .hapticRectangles, "each entry must be <x,y,width,height>, as in <<10,10,100,50>,<10,80,100,50>>")
    }
    settings.withLock { settings in
      settings.hapticRectangles = rows.map { row in
        // All with one id, which makes the list number them.
        HapticRectangle(id: 0, x: Double(row[0]), y: Double(row[1]), width: Double(row[2]), height: Double(row[3]))
      }
    }
    updateHapticRectangles()
    if rows.count > SendHapticData.maximumCount { warnAboutCut("The property haptic-rectangles has") }
  }

  private func warnAboutCut(_ subject: String) {
    let maximum = SendHapticData.maximumCount
    warn(
      .resource(
        GST_RESOURCE_ERROR_SETTINGS,
        "\(subject) more than \(maximum) touchable rectangles, which is all that a head unit takes: the rest is left out."
      ))
  }

  /// The head unit wants rectangles, but not these, or not from this app.
  func hapticRectanglesRefused(_ resultCode: String, _ info: String?) {
    let isForbidden = resultCode == ResultCode.disallowed.rawValue
    warn(
      .resource(
        isForbidden ? GST_RESOURCE_ERROR_NOT_AUTHORIZED : GST_RESOURCE_ERROR_WRITE,
        "The head unit refuses the touchable rectangles: \(resultCode)\(info.map { ", \($0)" } ?? "").",
        details: "SendHapticData"))
  }
}

extension VideoSinkSettings {
  /// The property as it is read.
  var hapticRows: [[Int32]] {
    (hapticRectangles ?? []).map { rectangle in
      [rectangle.x, rectangle.y, rectangle.width, rectangle.height].map { Int32(exactly: $0) ?? 0 }
    }
  }
}

extension VideoSinkState {
  /// Those of the frames, and while they have none, those that the application has set.
  fileprivate func hapticRectangles(_ own: [HapticRectangle]?) -> HapticRectangleList? {
    if let regions, !regions.rectangles.isEmpty { return regions }
    return own.map { HapticRectangleList($0) } ?? regions
  }
}
