import { denied, type Probe } from './probe.ts'

const toUnix = (address: string): string => `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0) or die; connect(S, ${address}) or die'`
const opensSocket = (family: number, type: number, protocol = 0): string => `perl -e 'socket(S,${String(family)},${String(type)},${String(protocol)}) or die'`
const sends = (to: string): string => `perl -MSocket -e 'socket(S,AF_INET,SOCK_DGRAM,0) or die; send(S, "x", 0, ${to}) or die'`

/** Ways to the network and to other programs of this host. */
export const networkProbes: readonly Probe[] = [
  denied('another port of this host', (on) => `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${String(on.tcpPort)}'`),
  denied('another port of this host by its name', (on) => `bash -c 'exec 3<>/dev/tcp/localhost/${String(on.tcpPort)}'`),
  denied('another port of this host by 0.0.0.0', (on) => `bash -c 'exec 3<>/dev/tcp/0.0.0.0/${String(on.tcpPort)}'`),
  denied('another port of this host by IPv6', (on) => `bash -c 'exec 3<>/dev/tcp/::1/${String(on.tcp6Port ?? 1)}'`, 'nobody'),
  denied('the port of the model proxy', () => 'bash -c \'exec 3<>/dev/tcp/127.0.0.1/7000\'', 'nobody'),
  denied('the model proxy on the host', () => 'bash -c \'exec 3<>/dev/tcp/127.0.0.1/18747\'', 'nobody'),
  denied('any port that listens', () => 'grep -qE "^ *[0-9]+: [0-9A-F:]+ [0-9A-F:]+ 0A " /proc/net/tcp /proc/net/tcp6'),
  denied('an address of the outside', () => 'timeout 5 bash -c \'exec 3<>/dev/tcp/192.0.2.1/80\'', 'nobody'),
  denied('the metadata service of a cloud', () => 'timeout 5 bash -c \'exec 3<>/dev/tcp/169.254.169.254/80\'', 'nobody'),
  denied('a name by DNS', () => 'timeout 5 getent hosts example.org', 'nobody'),
  denied('a name server by UDP', () => sends('sockaddr_in(53, inet_aton("192.0.2.53"))'), 'nobody'),
  denied('a multicast group', () => sends('sockaddr_in(5353, inet_aton("224.0.0.251"))'), 'nobody'),
  denied('a network card', () => 'grep -vE "^ *lo:|\\|" /proc/net/dev', 'nobody'),
  denied('an abstract socket of this host', (on) => toUnix(`pack("S",1)."\\0${on.abstractName.slice(1)}"`)),
  denied('a Unix socket of this host', (on) => toUnix(`pack_sockaddr_un("${on.unixPath}")`)),
  denied('the sockets of this host, by the kernel\'s list', (on) => `grep -q ${on.unixPath} /proc/net/unix`),
  denied('a message bus', () => 'ls /run/dbus /var/run/dbus /run/user', 'nobody'),
  denied('a container engine', () => 'ls /run/docker.sock /var/run/docker.sock /run/containerd /run/podman', 'nobody'),
  denied('a display', () => 'ls /tmp/.X11-unix /run/user/*/wayland-0', 'nobody'),
  denied('a raw socket', () => opensSocket(2, 3, 1), 'root'),
  denied('a packet socket', () => opensSocket(17, 3, 3), 'root'),
  denied('a socket to the machine\'s host (vsock)', () => opensSocket(40, 1), 'nobody'),
  denied('a socket of the kernel\'s ciphers', () => opensSocket(38, 5), 'nobody'),
  denied('a Bluetooth socket', () => opensSocket(31, 3), 'nobody'),
  denied('a CAN socket', () => opensSocket(29, 3, 1), 'nobody'),
  denied('a TIPC socket', () => opensSocket(30, 1), 'nobody'),
]
