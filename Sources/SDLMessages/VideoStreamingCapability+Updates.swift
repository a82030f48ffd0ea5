/// Partial updates, in which a missing member is unchanged (RPC specification, OnSystemCapabilityUpdated).
extension VideoStreamingCapability {
  /// This capability with the members that `update` has.
  ///
  /// A new size without a list ends the list of before, because its sizes belong to another layout of the screen. That
  /// list becomes ``formerCapabilities``, until the head unit sends another one.
  public func updated(by update: VideoStreamingCapability) -> VideoStreamingCapability {
    var merged = replacingOwnMembers(by: update)
    if let additional = update.additionalCapabilities {
      merged.additionalCapabilities = additional
      merged.formerCapabilities = []
      merged.unreadCapabilityCount = update.unreadCapabilityCount
    } else if merged.preferredResolution != preferredResolution {
      merged.additionalCapabilities = nil
      // An update that is made of several may itself have replaced a list, which then is the newer one.
      merged.formerCapabilities =
        update.formerCapabilities.isEmpty ? additionalCapabilities ?? formerCapabilities : update.formerCapabilities
      merged.unreadCapabilityCount = 0
    }
    return merged
  }

  /// Without the lists.
  private func replacingOwnMembers(by update: VideoStreamingCapability) -> VideoStreamingCapability {
    var merged = self
    merged.preferredResolution = update.preferredResolution ?? preferredResolution
    merged.maxBitrate = update.maxBitrate ?? maxBitrate
    merged.supportedFormats = update.supportedFormats ?? supportedFormats
    merged.hapticSpatialDataSupported = update.hapticSpatialDataSupported ?? hapticSpatialDataSupported
    merged.diagonalScreenSize = update.diagonalScreenSize ?? diagonalScreenSize
    merged.pixelPerInch = update.pixelPerInch ?? pixelPerInch
    merged.scale = update.scale ?? scale
    merged.preferredFPS = update.preferredFPS ?? preferredFPS
    return merged
  }
}
