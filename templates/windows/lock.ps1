# Takes the lock Lock and keeps it while a byte comes in on stdin at least every 45 s; it ends with its channel. Says
# `locked`, or `held` and who holds it. Root: a private folder for it. Holder: one line about who takes it. In the file:
# the process that holds it, then its Holder, then when that process started.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Root,
    [Parameter(Mandatory = $true)][string]$Lock,
    [Parameter(Mandatory = $true)][string]$Holder
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
New-PrivateFolder -Path $Root
$held = Open-LockFile -Path $Lock
if ($null -eq $held) {
    $other = Get-LockHolder -Path $Lock
    # Our own, on a connection that we lost: no other run can have written that line.
    if ($other.holder -eq $Holder) {
        Stop-LockHolder -Other $other
        $deadline = (Get-Date).AddSeconds(5)
        while ($null -eq $held -and (Get-Date) -lt $deadline) {
            Start-Sleep -Milliseconds 100
            $held = Open-LockFile -Path $Lock
        }
    }
}
if ($null -eq $held) { Write-Result -Value "held $($other.holder)" }
else {
    Write-LockHolder -File $held -Process $PID -Holder $Holder
    Write-Result -Value 'locked'
    while (Wait-Heartbeat -Seconds 45) { }
    Close-LockFile -File $held
    Remove-LockFile -Path $Lock
    # Without a marker and without files of jobs nothing here is worth keeping.
    if (@(Get-ChildItem -LiteralPath $Root -File -Recurse).Count -eq 0) { Remove-Tree -Path $Root }
}
