import SDLMessages

/// A command to a running head unit: one line of text, as listed in ``usage``.
package enum HeadUnitCommand: Equatable, Sendable {
  /// Another HMI status for the app on the screen; without a state of its sound, full and limited are audible.
  case level(HMILevel, VideoStreamingState, AudioStreamingState? = nil)
  case event(HMIEvent, isActive: Bool)
  /// Whether the sound of the app on the screen is played.
  case audioStreaming(AudioStreamingState)
  /// Another size for the app on the screen; the scale is 1…10.
  case resize(VideoSize, scale: Double?)
  /// A partial capability for the app on the screen; absent members are unchanged.
  case update(VideoStreamingCapability)
  case driverDistraction(OnDriverDistraction)
  /// The car's readings from now on, for all apps, also those that connect later.
  case vehicle(VehicleReading)
  /// Readings along a track, from now on; nil ends them. The car stays where it is.
  case drive(DriveTask?)
  /// The language of the head unit from now on, for all apps.
  case language(String)
  /// Asks all apps to fetch the head unit's policy from this URL.
  case policyUpdate(String)
  /// A notification to all apps, without any other effect; its members are not checked.
  case notify(FunctionID, JSONObject)
  /// What apps may do from now on, also those that connect later.
  case policy(PolicyTable.Change)
  /// Brings the app of this session to the screen; nil for the one that was on it last.
  case activate(UInt8?)
  /// The driver closes the app of this session; nil for the one on the screen.
  case close(UInt8?)
  /// OnTouchEvent to the app on the screen. The time stamps are filled in when it is sent.
  case touch(OnTouchEvent)
  /// A gesture of one finger: several OnTouchEvents over a time.
  case gesture(TouchGesture)
  /// The driver uses a button, a menu or a choice of the app on the screen.
  case driverInput(DriverInput)
  /// The head unit's own EndService(video).
  case endVideo
  /// The head unit's own EndService(audio).
  case endAudio
  /// Closes the connection of the app on the screen without a message.
  case cut
  /// Closes the secondary transport of the app on the screen.
  case cutSecondary
  /// Offers a secondary transport that the head unit itself serves, at this port; 0 takes another free port, nil the
  /// present one.
  case serveSecondaryTransport(port: UInt16?)
  /// Ends the registration of the app on the screen.
  case unregister(UnregisteredReason)
  /// Ends all registrations.
  case ignitionOff
  /// The answer to the next video start of the app on the screen, after earlier ones of these.
  case answerOnce(HeadUnitBehaviour.VideoStartAnswer)
  /// A change of the behaviour towards all apps, also those that connect later.
  case behave(HeadUnitBehaviour.Change)
  /// No answers to StartService(video) and EndService(video) of any app.
  case silent(Bool)
  /// Neither reads nor writes for this time, like a head unit that hangs.
  case stall(Duration)
  /// Another road between head unit and apps, for all connections; nil is that of the network.
  case shape(LinkShape?)
  /// Closes the port.
  case refuseConnections(Bool)
  /// An event has to come, or must not come.
  case expect(Expectation)
  /// The picture of the app on the screen as a file, or compared with one.
  case picture(PictureTask)
  /// The test has failed, for this reason.
  case fail(String)
  /// The test is over.
  case quit
  case help

  package struct Malformed: Error, Equatable, CustomStringConvertible {
    /// The error, on one line.
    package var description: String
  }
}

extension HeadUnitCommand {
  /// Whether it concerns the test, and not the head unit.
  package var isTest: Bool {
    switch self {
    case .expect, .picture, .fail, .quit: true
    default: false
    }
  }

  /// Whether it ends with an outcome.
  package var isAwaited: Bool {
    switch self {
    case .expect, .picture: true
    default: false
    }
  }

  /// Nil for an empty line.
  package static func parse(_ line: String) throws(Malformed) -> HeadUnitCommand? { try CommandParser.parse(line) }

  /// The forms of all commands, one per line.
  package static let usage = descriptions.map(\.form).joined(separator: "\n")

  /// The forms, each with its effect on an indented line.
  package static let helpText = descriptions.map { "\($0.form)\n    \($0.effect)" }.joined(separator: "\n")

  /// Each name of a command once, in the order of ``usage``.
  static let names = descriptions.map { String($0.form.prefix { $0 != " " }) }
    .reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }

  private static let descriptions: [(form: String, effect: String)] = [
    (
      "level full|limited|background|none [streamable|not-streamable [audible|attenuated|not-audible]]",
      "gives the app this HMI level; full and limited are streamable and audible by default"
    ),
    ("phone-call on|off", "no app may be heard; HMI level and video stay"),
    ("emergency on|off", "no app may be heard or stream video; the HMI level stays"),
    (
      "embedded-navi on|off",
      "navigation and projection apps leave the screen (background; limited for media apps that project), and may not "
        + "be heard or stream video"
    ),
    (
      "audio-streaming audible|attenuated|not-audible",
      "plays the app's sound, plays it more quietly because something else speaks, or does not play it; until the next "
        + "level"
    ),
    ("resize WxH [scale S]", "changes the size of the app's window; no other size is accepted from then on"),
    ("framerate FPS", "sends the app another preferredFPS; 0 is no limit"),
    ("max-bitrate KBPS", "sends the app another maxBitrate; 0 is no limit"),
    (
      "update size|scale|framerate|max-bitrate|diagonal|density|haptics|formats|sizes VALUE ...",
      "sends the app a capability update with these members alone"
    ),
    ("distraction on|off [TEXT]", "sends OnDriverDistraction to all apps, with a text for their lock screens"),
    (
      "vehicle NAME [VALUE]",
      "sends vehicle data, such as speed 50 (km/h) or prndl drive, for apps that ask for it (GetVehicleData) or "
        + "subscribe to it; structures are JSON, and without VALUE it is that of a car that stands"
    ),
    ("gps LATITUDE LONGITUDE [HEADING]", "sends the car's position and heading, in degrees"),
    (
      "drive FILE [speed N]",
      "sends position and speed along the track in a GPX file, at its own times, or N times as fast"
    ),
    ("drive off", "ends the drive"),
    (
      "language LANGUAGE",
      "changes the head unit's language, such as DE-DE (OnLanguageChange); apps in another one are unregistered"
    ),
    ("policy-update URL", "asks the apps to fetch a new policy from this URL (OnSystemRequest)"),
    (
      "notify RPC [MEMBERS]",
      "sends all apps a notification such as OnWayPointChange; MEMBERS are JSON, and are not checked"
    ),
    (
      "permit RPC [LEVEL ...]",
      "allows all apps an RPC, or a notification, such as OnTouchEvent at these HMI levels alone, by default at all "
        + "(OnPermissionsChange)"
    ),
    ("deny RPC", "allows it no app at any level"),
    ("grant GROUP", "grants all apps a functional group of the policies, such as Emergency-1"),
    ("revoke GROUP", "takes it from all apps"),
    ("activate [APP]", "opens the app with this number, or the one that was on the screen last"),
    ("close [APP]", "closes the app with this number, or the one on the screen (HMI level none)"),
    (
      "touch begin|move|end|cancel ID X Y [ID X Y ...]",
      "sends one OnTouchEvent; several positions of an ID are its path"
    ),
    ("touch tap X Y", "a finger for 50 ms"),
    ("touch swipe X Y X Y [SECONDS]", "a finger that moves, in 0.3 s by default"),
    (
      "press BUTTON [short|long|down|up]",
      "presses a button of the car that the app has subscribed to, such as OK or NAV_ZOOM_IN; long holds it for 1.2 s"
    ),
    (
      "press soft-button ID", "presses a button that the app shows, by its softButtonID; one of an alert ends it"
    ),
    ("menu COMMAND", "chooses a command that the app has added to its menu, by its cmdID or its name"),
    ("choose ID", "answers the app's PerformInteraction with this choiceID"),
    ("slider POSITION", "moves the app's Slider to this position, from 1 on, and closes it"),
    (
      "keyboard TEXT",
      "types TEXT, and enters it: for a PerformInteraction with a keyboard, or the app on the screen (OnKeyboardInput)"
    ),
    (
      "dismiss",
      "closes the alert, message, choice or slider in front without an answer: ABORTED for choices and sliders, SUCCESS "
        + "for the others"
    ),
    ("end-video", "ends the app's video service"),
    ("end-audio", "ends the app's audio service"),
    ("cut", "closes the app's connection without a message"),
    ("cut secondary", "closes the app's secondary transport without a message; its services there end"),
    (
      "unregister REASON",
      "ends the app's registration, with an AppInterfaceUnregisteredReason such as protocol-violation"
    ),
    ("ignition-off", "ends the registrations of all apps"),
    ("refuse [videoCodec|videoProtocol|width|height ...]", "the same as answer start-video once nak"),
    ("silent on|off", "answers neither starts nor ends of video, to any app"),
    ("stall SECONDS", "neither reads nor writes for this time"),
    (
      "shape [up=RATE] [down=RATE] [delay=TIME] [jitter=TIME] [loss-stall=TIME/TIME]",
      "makes the road slow, for all connections: up from the app and down to it, such as 600kbit (a second); a delay "
        + "such as 80ms one way, and up to jitter more; loss-stall=300ms/5s lets nothing pass for 300 ms every 5 s on "
        + "average"
    ),
    ("shape off", "makes the road as fast as the network"),
    ("refuse-connections on|off", "closes the port, and the port for secondary transports"),
    ("answer start-session ack|nak|silence", "how the start of the RPC service is answered"),
    (
      "answer start-tls regular|silence|garbage|clear|lost-finished|garbled-finished|expired|wrong-id|unknown-ca",
      "the outcome of further TLS handshakes: none, bytes that are not TLS, an acknowledgement in clear after it, or "
        + "a certificate that is refused; for a head unit that takes encrypted video and sound"
    ),
    (
      "answer register regular|silence|RESULT",
      "how RegisterAppInterface is answered; RESULT is a result code such as too-many-applications"
    ),
    ("answer get-capability regular|silence|RESULT", "how GetSystemCapability is answered"),
    (
      "answer RPC [once] RESULT [after SECONDS] [MEMBERS]",
      "how an RPC such as Show is answered, without any other effect of it: RESULT is a result code such as rejected, and "
        + "MEMBERS are JSON; once is for the next request of each app alone"
    ),
    ("answer RPC [once] silence", "does not answer it"),
    ("answer RPC [once] regular [MEMBERS]", "the usual answer, with its effects, and these members in it"),
    (
      "answer start-video [once] regular|echo|silence",
      "by the rules, with whatever was requested, or not at all; once is for the app's next start alone"
    ),
    ("answer start-video [once] ack [WxH] [PROTOCOL/CODEC]", "acknowledges these parameters, whatever was requested"),
    (
      "answer start-video [once] nak [videoCodec|videoProtocol|width|height ...] [because TEXT]",
      "refuses, and names these parameters"
    ),
    (
      "answer start-audio ack|nak|silence|end",
      "how StartService(audio) is answered; end acknowledges it, and ends the service at once"
    ),
    ("answer end-service ack|nak|silence", "how EndService is answered, of RPC, of video and of audio"),
    (
      "answer register-secondary ack|nak|silence|close",
      "how RegisterSecondaryTransport is answered; close acknowledges it, and closes the connection at once"
    ),
    ("delay start-video SECONDS", "delays the answer to StartService(video)"),
    ("none-after-refusal on|off", "whether a refused start of video or audio costs the app its HMI level"),
    ("heartbeat core|silence|SECONDS", "answers heartbeats, does not, or sends them itself at this interval"),
    (
      "player on|off|SECONDS",
      "whether a player takes the video, or how long after each start; video until then is lost"
    ),
    ("data-timeout SECONDS|off", "the pause after which video has to start again with a key frame"),
    (
      "delay secondary-transport SECONDS",
      "how long after the start of a session, or a change, apps get the address of the secondary transport; 0 is at "
        + "once"
    ),
    (
      "secondary-transport on [PORT]",
      "offers sessions a secondary transport, which the head unit serves, at PORT if given; 0 takes another free port"
    ),
    ("secondary-transport ADDRESS PORT", "offers one at an address that this head unit does not serve"),
    ("secondary-transport off", "withdraws it"),
    (
      "video-transports LIST",
      "transports over which new sessions may start video, in order of preference: 1 the primary transport, 2 the "
        + "secondary one, such as 2,1; or none"
    ),
    ("audio-transports LIST", "the same for audio"),
    (
      "expect EVENT [PATH=VALUE|PATH~EXPRESSION ...] [within SECONDS]",
      "fails unless such an event of scripts, or an RPC such as Show mainField1=\"Hello SDL!\", comes within 10 s or "
        + "this time; EVENT/response is the response to an RPC, and ~ searches a regular expression"
    ),
    (
      "never EVENT [PATH=VALUE|PATH~EXPRESSION ...] for SECONDS",
      "fails if such an event comes within this time"
    ),
    ("screenshot FILE", "writes the picture that the app shows to FILE, as PNG"),
    (
      "expect picture FILE [psnr DECIBELS] [within SECONDS]",
      "fails unless the app shows the picture in FILE within 10 s or this time, of the same size and with this peak "
        + "signal-to-noise ratio at least (default 30)"
    ),
    ("fail TEXT", "fails, for this reason"),
    ("quit", "ends the test, and sdl-head-unit"),
    ("help", "lists the commands"),
  ]
}
