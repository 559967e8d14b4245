/** What only a fleet with Windows hosts needs: it is loaded with the first of them. */
export { observeWindows } from '../../facts/observe-windows.ts';
export { windowsRemote } from '../../remote/windows/windows-remote.ts';
