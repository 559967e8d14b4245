import { inside } from './ssh.ts';

/** A packet between two pods, as it passed a host's network interface. */
export interface Captured {
  /** In a VXLAN tunnel, or as it is. */
  readonly by: 'vxlan' | 'route';
  /** Of the tunnel: UDP port it was sent to, and network identifier. */
  readonly port?: number;
  readonly vni?: number;
  /** Addresses of the hosts for a tunnel, of the pods otherwise. */
  readonly from: string;
  readonly to: string;
}

const PROGRAM = `
import json, socket, sys
interface, seconds, *pods = sys.argv[1:]
wanted = set(pods)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind((interface, 0))
link.settimeout(float(seconds))
address = lambda packet, at: socket.inet_ntoa(packet[at:at + 4])
while True:
    frame = link.recv(65535)
    if frame[12:14] != b'\\x08\\x00': continue
    packet = frame[14:]
    outer = address(packet, 12), address(packet, 16)
    if set(outer) == wanted:
        print(json.dumps({'by': 'route', 'from': outer[0], 'to': outer[1]})); break
    segment = packet[(packet[0] & 15) * 4:]
    # RFC 7348: flags with the I bit, 24 bits of VNI, then an Ethernet frame.
    if packet[9] != 17 or len(segment) < 50 or segment[8] != 8: continue
    inner = segment[30:]
    if {address(inner, 12), address(inner, 16)} == wanted:
        print(json.dumps({'by': 'vxlan', 'port': int.from_bytes(segment[2:4], 'big'),
            'vni': int.from_bytes(segment[12:15], 'big'), 'from': outer[0], 'to': outer[1]})); break
`;

/** The first packet between two pods that passes eth0 of a host. Throws when none comes within 60 s. */
export async function captured(host: string, one: string, other: string): Promise<Captured> {
  const { code, stdout, stderr } = await inside(host, `python3 - eth0 60 ${one} ${other}`, PROGRAM);
  if (code !== 0) throw new Error(`${host}: no packet between ${one} and ${other}: ${stderr}`);
  return JSON.parse(stdout) as Captured;
}
