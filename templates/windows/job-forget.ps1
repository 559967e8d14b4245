# Removes a job that has ended: its task Task and its folder Folder.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Folder, [Parameter(Mandatory = $true)][string]$Task)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($one in @(Find-Existing -Look { Get-ScheduledTask -TaskName $Task -ErrorAction 'Stop' })) { Unregister-ScheduledTask -TaskName $one.TaskName -Confirm:$false }
if (Test-Path -LiteralPath $Folder) { Remove-Tree -Path $Folder }
Write-Result -Value $true
