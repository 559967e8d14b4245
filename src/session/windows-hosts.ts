/** What only a fleet with Windows hosts needs: it is loaded with the first of them. */
export { observeWindows } from '../cluster/fleet/observe-windows.ts';
export { windowsRemote } from '../ssh/windows.ts';
