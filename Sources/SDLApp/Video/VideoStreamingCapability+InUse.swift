extension VideoStreamingCapability {
  /// This capability with the members of an update that arrives while `display` is streamed.
  ///
  /// An update without size and list is about the display in use, as in sdl_ios, even if that is not the capability's
  /// own: while 800×380 from the additional list is streamed, a scale of 2 means 400×190. Rates, formats and haptics
  /// change for the capability itself too, because entries inherit them; its own scale, diagonal and density do not.
  /// - Parameter display: nil when nothing is streamed or asked for; then the update is about the capability's own.
  func updated(by update: VideoStreamingCapability, inUse display: VideoDisplay?) -> VideoStreamingCapability {
    guard update.preferredResolution == nil, update.additionalCapabilities == nil, let display,
      VideoDisplay(self, root: self)?.isSame(as: display) != true
    else { return updated(by: update) }
    func indexInUse(_ entries: [VideoStreamingCapability]?) -> Int? {
      entries?.firstIndex { VideoDisplay($0, root: self)?.isSame(as: display) == true }
    }
    var inherited = update
    inherited.scale = nil
    inherited.diagonalScreenSize = nil
    inherited.pixelPerInch = nil
    var merged = updated(by: inherited)
    if let index = indexInUse(additionalCapabilities) {
      merged.additionalCapabilities?[index] = additionalCapabilities?[index].updated(by: update) ?? update
    } else if let index = indexInUse(formerCapabilities) {
      merged.formerCapabilities[index] = formerCapabilities[index].updated(by: update)
    } else {
      return updated(by: update)
    }
    return merged
  }
}
