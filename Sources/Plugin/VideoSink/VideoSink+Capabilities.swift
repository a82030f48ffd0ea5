import SDLApp

/// What upstream may know of the head unit, beyond caps.
extension VideoSinkState {
  /// Every way in which the head unit can show pictures of ``acceptedOffers``; nil while it has not said.
  var displays: [VideoDisplay]? {
    guard let acceptedOffers else { return nil }
    let told = (headUnit?.videoCapability).map(VideoDisplay.displays(of:)) ?? []
    let taken = told.filter { display in acceptedOffers.contains { $0.size == display.streamSize } }
    // A head unit without capabilities, or one that has insisted on a size of its own.
    guard taken.isEmpty else { return taken }
    return acceptedOffers.map { VideoDisplay(size: $0.displaySize, scale: $0.scale, frameRate: $0.frameRate) }
  }
}
