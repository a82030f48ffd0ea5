extension VideoNegotiation {
  public struct Settings: Equatable, Sendable {
    public var suspendPolicy = SuspendPolicy.auto
    public var resizePolicy = ResizePolicy.renegotiate
    /// How H.264 may be carried, in order of preference; nil leaves it to the head unit.
    public var transports: [VideoTransport]?
    public var encoder = EncoderPreferences()
    /// No picture has more pixels than this one: they cost memory and computing time, and it is the head unit that asks
    /// for them.
    public var largestPicture = VideoSize(4096, 2304)

    public init() {}
  }
}
