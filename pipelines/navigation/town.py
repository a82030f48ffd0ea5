#!/usr/bin/python3
"""Prints a map of a town that does not exist, as OpenStreetMap's XML: streets between a river and two parks."""

import math

# Its middle, in degrees; everything else is in metres from there.
LATITUDE, LONGITUDE = 48.0, 9.0
METRES_PER_DEGREE = 111_200
SIDE, BLOCK, POINT_DISTANCE = 1600, 200, 50
RIVER_BANKS = -600, -400
BRIDGES = -1000, 0, 1000
NAMES = ("Linden Maple Chestnut Willow Birch Elm Cherry Walnut Alder Rowan Hazel Cedar Poplar Laurel Aspen Beech "
         "Larch Quince Juniper Olive Medlar Spruce Sorrel Clover Fern Heather Ivy Jasmine Lavender Myrtle Sage Thyme "
         "Orchid Poppy").split()


class Town:
    def __init__(self):
        self.nodes = {}
        self.ways = []
        self.add_land()
        self.add_streets()

    def node(self, x, y):
        """The number of the node there; streets that cross share it."""
        return self.nodes.setdefault((round(x), round(y)), len(self.nodes) + 1)

    def add(self, corners, **tags):
        """A way with a node each 50 metres, so that its curves are smooth."""
        points = corners[:1]
        for (x0, y0), (x1, y1) in zip(corners, corners[1:]):
            count = max(1, round(math.hypot(x1 - x0, y1 - y0) / POINT_DISTANCE))
            points += [(x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count) for i in range(1, count + 1)]
        self.ways.append(([self.node(*point) for point in points], tags))

    def add_area(self, left, bottom, right, top, **tags):
        self.add([(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)], **tags)

    def add_land(self):
        self.add_area(-2600, -2600, 2600, 2600, landuse="residential")
        self.add_area(-1600, 650, -420, 1350, leisure="park", name="Castle Park")
        self.add_area(450, -1350, 950, -1050, leisure="park", name="Orchard Green")
        self.add_area(1050, 450, 1550, 1350, landuse="forest")
        self.add_area(-2600, -560, 2600, -440, natural="water")

    def add_streets(self):
        names = iter(NAMES)
        for y in range(-SIDE, SIDE + 1, BLOCK):
            # There the river flows.
            if not RIVER_BANKS[0] < y < RIVER_BANKS[1]:
                kind = "primary" if y == 0 else "secondary" if y in (-1200, 1000) else "residential"
                self.add([(-SIDE, y), (SIDE, y)], highway=kind, name=f"{next(names)} Street")
        for x in range(-SIDE, SIDE + 1, BLOCK):
            kind = "primary" if x == 0 else "secondary" if x in BRIDGES else "residential"
            name = f"{next(names)} {'Avenue' if x in BRIDGES else 'Lane'}"
            parts = [(-SIDE, SIDE)] if x in BRIDGES else [(-SIDE, RIVER_BANKS[0]), (RIVER_BANKS[1], SIDE)]
            for start, end in parts:
                self.add([(x, start), (x, end)], highway=kind, name=name)

    @staticmethod
    def degrees(x, y):
        """Of a point of the plan, whose straight streets become bent ones."""
        x, y = (x + 60 * math.sin(y / 420) + 25 * math.sin(x / 150 + 1),
                y + 70 * math.sin(x / 500) + 20 * math.sin(y / 170))
        return (LATITUDE + y / METRES_PER_DEGREE,
                LONGITUDE + x / METRES_PER_DEGREE / math.cos(math.radians(LATITUDE)))

    def print(self):
        print('<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6">')
        for point, number in self.nodes.items():
            latitude, longitude = self.degrees(*point)
            print(f'<node id="{number}" version="1" lat="{latitude:.7f}" lon="{longitude:.7f}"/>')
        for number, (nodes, tags) in enumerate(self.ways, 1):
            print(f'<way id="{number}" version="1">')
            print(*(f'<nd ref="{node}"/>' for node in nodes), sep="\n")
            print(*(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items()), "</way>", sep="\n")
        print("</osm>")


Town().print()
