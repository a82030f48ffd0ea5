"""The drive: what happens, and what the sink should do then."""

NARROW_BITS = 1_500_000
# The kernel buffers half a megabyte, and a machine that has much else to do encodes little of this size.
HANG_SECONDS = 8
WARNING_TEXT = "Swipe up to dismiss"


def script(drive):
    yield drive.state("connection-state", "ready")
    # A session can be offered one later if it was offered one at its start.
    drive.head_unit.command("secondary-transport off")
    yield drive.seconds(1)

    drive.act("driver opens the app", "activate")
    yield drive.message("sdl-stream-started", reason="first-start", width=800, height=480)
    yield drive.seconds(2.5)
    yield drive.until("flowing stream", lambda: drive.counted("frames-sent") > 50)

    drive.act("phone call", "phone-call on")
    yield drive.message("sdl-hmi-status", level="full", video_streaming_state="streamable",
                        audio_streaming_state="not-audible")
    yield drive.message("sdl-stream-suspended", service="audio")
    yield drive.seconds(2)
    yield drive.until("stream that goes on during a call", lambda: drive.counted("frames-sent") > 40)
    drive.act("call ends", "phone-call off")
    yield drive.message("sdl-hmi-status", audio_streaming_state="audible")
    yield drive.message("sdl-stream-started", service="audio")
    yield drive.seconds(1)

    drive.act("app is leaving", app_state="resigning")
    yield drive.message("sdl-stream-suspended", reason="app-state")
    drive.sink.set_property("app-state", "background")
    yield drive.seconds(2.5)
    drive.check(not drive.messages("sdl-stream-stopped"), "the service does not outlast the background")
    drive.check(drive.recording.state("sound") == "streaming", "the sound does not go on in the background")
    drive.act("app returns", app_state="regaining")
    yield drive.seconds(0.3)
    drive.sink.set_property("app-state", "foreground")
    yield drive.message("sdl-stream-started", reason="resumed")
    yield drive.seconds(2)

    drive.act("split screen", "resize 480x320")
    yield drive.message("sdl-stream-stopped", reason="resized")
    yield drive.message("sdl-stream-started", reason="resized", width=480, height=320)
    yield drive.seconds(2)

    drive.act("car moves", f"distraction on {WARNING_TEXT}")
    yield drive.message("sdl-driver-distraction", limited=True, dismissal_enabled=True, text=WARNING_TEXT)
    yield drive.seconds(1.5)
    drive.act("car stands", "distraction off")
    yield drive.message("sdl-driver-distraction", limited=False)
    yield drive.seconds(1)

    drive.act("head unit hangs", f"stall {HANG_SECONDS}")
    yield drive.seconds(HANG_SECONDS)
    drive.check(drive.counted(*drive.recording.drop_reasons) > 0, "a head unit that hangs makes no frames drop")
    drive.act("it works again")
    yield drive.until("30 frames after the stall", lambda: drive.counted("frames-sent") > 30)
    drive.check(not drive.messages("sdl-disconnected"), "a head unit that hangs for a while loses the app")
    yield drive.seconds(1)

    drive.act("Wi-Fi gets slow")
    drive.head_unit.link.narrow(NARROW_BITS)
    yield drive.until("bitrate near what the link carries",
                      lambda: drive.now("bitrate-target-kbps") <= NARROW_BITS * 1.5 / 1000)
    yield drive.until("stream that flows on", lambda: drive.counted("frames-sent") > 30)
    yield drive.seconds(2)
    drive.act("it is fast again")
    drive.head_unit.link.narrow(None)
    yield drive.until("bitrate that rises", lambda: drive.now("bitrate-target-kbps") > NARROW_BITS * 1.5 / 1000)
    yield drive.seconds(3)

    drive.act("second connection", "secondary-transport on")
    yield drive.message("sdl-stream-started", reason="moved", transport="secondary")
    yield drive.seconds(2)
    yield drive.until("stream that flows there", lambda: drive.counted("frames-sent") > 30)
    drive.act("it breaks", "secondary-transport off", "cut secondary")
    yield drive.message("sdl-stream-stopped", reason="transport-lost")
    yield drive.message("sdl-stream-started", transport="primary")
    yield drive.seconds(2)
    yield drive.until("stream that flows on the first", lambda: drive.counted("frames-sent") > 30)

    drive.act("connection breaks", "refuse-connections on", "cut")
    yield drive.message("sdl-disconnected", will_reconnect=True)
    yield drive.message("sdl-stream-stopped", reason="connection-lost")
    yield drive.state("connection-state", "reconnecting")
    yield drive.seconds(2)
    drive.check(not drive.messages("sdl-connected"), "connected to a closed port")
    drive.act("head unit is back", "refuse-connections off")
    yield drive.message("sdl-connected")
    yield drive.state("connection-state", "ready")
    yield drive.seconds(0.7)
    drive.act("driver opens the app", "activate")
    yield drive.message("sdl-stream-started", reason="reconnected", width=800, height=480)
    yield drive.message("sdl-stream-started", service="audio", reason="reconnected")
    yield drive.seconds(2.5)
    yield drive.until("stream that flows again", lambda: drive.counted("frames-sent") > 50)

    drive.act("app exits")
