import ssh2, { type Session } from 'ssh2';
import type { Faults } from './faults.ts';
import { DiskFull, filesOf, parentOf, type Machine } from './machine.ts';

const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp;

interface Opened {
  readonly path: string;
  readonly writes: boolean;
  content: Buffer;
}

/** `/C:/k/file` as Windows has it; undefined for anything that sftp-server.exe would not take for a path of a drive. */
const windowsPath = (path: string): string | undefined =>
  /^\/?[A-Za-z]:\//.test(path) ? path.replace(/^\//, '').replaceAll('/', '\\') : undefined;

const attributes = (size: number) => ({ mode: 0o100644, uid: 0, gid: 0, size, atime: 0, mtime: 0 });

/** sftp-server.exe over the files of the machine: a file grows as it is written, and is renamed over none. */
export function serveSftp(
  session: Session,
  machine: Machine,
  faultOf: (kind: 'put' | 'get', path: string) => ReturnType<Faults>,
  drop: () => void,
): void {
  session.on('sftp', (accept) => {
    const sftp = accept();
    const files = filesOf(machine);
    const handles = new Map<number, Opened>();
    let next = 0;
    const handleOf = (handle: Buffer): Opened | undefined => handles.get(handle.readUInt32BE(0));
    sftp.on('error', () => undefined);
    sftp.on('OPEN', (id, name, flags) => {
      const path = windowsPath(name);
      if (path === undefined) {
        sftp.status(id, STATUS_CODE.NO_SUCH_FILE, 'No such file or directory');
        return;
      }
      const writes = (flags & OPEN_MODE.WRITE) !== 0;
      const fault = faultOf(writes ? 'put' : 'get', path);
      if (fault === 'lost') {
        drop();
        return;
      }
      if (fault === 'fails' || fault === 'killed') {
        sftp.status(id, STATUS_CODE.FAILURE, 'Failure');
        return;
      }
      const there = files.get(path);
      if (writes ? !files.exists(parentOf(path)) : there === undefined) {
        sftp.status(id, STATUS_CODE.NO_SUCH_FILE, 'No such file or directory');
        return;
      }
      handles.set(next, { path, writes, content: writes ? Buffer.alloc(0) : there!.content });
      if (fault === 'truncated') truncated.add(next);
      if (fault === 'disk-full') full.add(next);
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(next++);
      sftp.handle(id, handle);
    });
    const truncated = new Set<number>();
    const full = new Set<number>();
    sftp.on('WRITE', (id, handle, offset, data) => {
      const opened = handleOf(handle);
      if (opened === undefined || full.has(handle.readUInt32BE(0))) {
        sftp.status(id, STATUS_CODE.FAILURE, 'Failure');
        return;
      }
      const grown = Buffer.alloc(Math.max(opened.content.length, offset + data.length));
      opened.content.copy(grown);
      data.copy(grown, offset);
      opened.content = grown;
      sftp.status(id, STATUS_CODE.OK);
    });
    sftp.on('READ', (id, handle, offset, length) => {
      const opened = handleOf(handle);
      if (opened === undefined || offset >= opened.content.length) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, opened.content.subarray(offset, offset + length));
    });
    sftp.on('CLOSE', (id, handle) => {
      const opened = handleOf(handle);
      const number = handle.readUInt32BE(0);
      handles.delete(number);
      try {
        if (opened?.writes === true) {
          const { content } = opened;
          const half = content.subarray(0, Math.floor(content.length / 2));
          const access = files.get(parentOf(opened.path))?.access ?? 'private';
          files.put(opened.path, truncated.has(number) ? half : content, access);
        }
        sftp.status(id, STATUS_CODE.OK);
      } catch (error) {
        if (!(error instanceof DiskFull)) throw error;
        sftp.status(id, STATUS_CODE.FAILURE, 'Failure');
      }
    });
    sftp.on('FSTAT', (id, handle) => {
      sftp.attrs(id, attributes(handleOf(handle)?.content.length ?? 0));
    });
    const stat = (id: number, name: string): void => {
      const file = files.get(windowsPath(name) ?? '');
      if (file === undefined) sftp.status(id, STATUS_CODE.NO_SUCH_FILE, 'No such file or directory');
      else sftp.attrs(id, attributes(file.content.length));
    };
    sftp.on('STAT', stat);
    sftp.on('LSTAT', stat);
    sftp.on('FSETSTAT', (id) => sftp.status(id, STATUS_CODE.OK));
    sftp.on('REALPATH', (id, name) => sftp.name(id, [{ filename: name, longname: name, attrs: attributes(0) }]));
  });
}
