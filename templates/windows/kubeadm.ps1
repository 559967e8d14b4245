# kubeadm's join, reset or upgrade of the node, as a job whose working directory holds config.yaml. Action: join, reset
# or upgrade. Program: kubeadm.exe. Cluster: its name. Marker: a file that is there while kubeadm works; it says done as
# soon as kubeadm has joined, and is removed at the end. Services: those to stop before a reset; Paths: those to remove.
# Variables: a list of objects with name and value for kubeadm's environment.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Action,
    [Parameter(Mandatory = $true)][string]$Program,
    [Parameter(Mandatory = $true)][string]$Cluster,
    [Parameter(Mandatory = $true)][string]$Marker,
    [string[]]$Services = @(),
    [string[]]$Paths = @(),
    $Variables = @()
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($variable in @($Variables)) { Set-Item -Path "Env:$($variable.name)" -Value $variable.value }
# kubeadm's checks ask kubelet.exe, which lies beside it, for its version, and look for it in PATH alone. The Task
# Scheduler may have started before kbuild changed the machine's.
Set-Item -Path 'Env:Path' -Value "$(Split-Path -Path $Program -Parent);$env:Path"
$mark = @{ cluster = $Cluster; action = $Action; job = 'kubeadm'; stage = 'begun' }
Write-TextFile -Path $Marker -Text (ConvertTo-Json -InputObject $mark -Compress)
$output = @()
if ($Action -eq 'join') {
    $output = @(Invoke-Native -Exe $Program -Arguments @('join', '--config', 'config.yaml'))
    $mark.stage = 'done'
    Write-TextFile -Path $Marker -Text (ConvertTo-Json -InputObject $mark -Compress)
} elseif ($Action -eq 'upgrade') {
    $output = @(Invoke-Native -Exe $Program -Arguments @('upgrade', 'node', '--config', 'config.yaml'))
} elseif ($Action -eq 'reset') {
    foreach ($service in $Services) {
        if ($null -ne (Find-Existing -Look { Get-Service -Name $service -ErrorAction 'Stop' })) {
            Stop-ServiceInTime -Name $service
        }
    }
    if (Test-Path -LiteralPath $Program -PathType 'Leaf') {
        $output = @(Invoke-Native -Exe $Program -Arguments @('reset', '--config', 'config.yaml'))
    }
    foreach ($path in $Paths) {
        if (Test-Path -LiteralPath $path) { Remove-Tree -Path $path }
    }
} else {
    throw "no such action: $Action"
}
Remove-Item -LiteralPath $Marker -Force
Write-Result -Value @{ output = @($output) }
